/** The similarity of a sound to the wanted one. */
export interface Likeness {
  /** Delay in samples. */
  readonly lag: number;
  /** From -1 to 1 over the whole sound; 1 differs only in level. */
  readonly correlation: number;
  /** Level difference in dB. */
  readonly gainDb: number;
}

/** Samples of the loudest part, by which the sounds are aligned. */
const PROBE = 4_800;

/** Compares two sounds of one rate. @param lags minimum and maximum delay of the first, in samples */
export function likeness(
  got: Float32Array,
  wanted: Float32Array,
  [least, most]: readonly [number, number],
): Likeness {
  const from = loudestAt(wanted);
  const probe = wanted.subarray(from, from + PROBE);
  let lag = least;
  let best = -1;
  for (let each = least; each <= most; each++) {
    const found = correlationOf(got.subarray(from + each), probe);
    if (found > best) [best, lag] = [found, each];
  }
  const moved = got.subarray(lag);
  const levels = Math.sqrt(energyOf(moved, wanted.length) / energyOf(wanted, wanted.length));
  return { lag, correlation: correlationOf(moved, wanted), gainDb: 20 * Math.log10(levels) };
}

/** Pads the first with silence. Silence correlates with nothing. */
function correlationOf(got: Float32Array, wanted: Float32Array): number {
  let product = 0;
  for (let at = 0; at < wanted.length; at++) product += wanted[at]! * (got[at] ?? 0);
  const energies = energyOf(got, wanted.length) * energyOf(wanted, wanted.length);
  return energies === 0 ? 0 : product / Math.sqrt(energies);
}

function energyOf(samples: Float32Array, length: number): number {
  let sum = 0;
  for (let at = 0; at < Math.min(length, samples.length); at++) sum += samples[at]! ** 2;
  return sum;
}

function loudestAt(samples: Float32Array): number {
  let loudest = 0;
  let most = -1;
  for (let at = 0; at + PROBE <= samples.length; at += PROBE / 2) {
    const energy = energyOf(samples.subarray(at), PROBE);
    if (energy > most) [most, loudest] = [energy, at];
  }
  return loudest;
}
