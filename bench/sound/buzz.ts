import { SAMPLE_RATE_HZ } from "../../src/audio/format.ts";

/**
 * How much energy between 10.1 and 11.9 kHz hangs on the place in the hop (12.5 ms) where it is: by tenths of the hop,
 * the largest over the smallest. Each hop counts by its shares, however loud it is. Noise and voice do not know where a
 * hop begins: 1, and by chance a little more.
 *
 * @param sentences samples of sentences, each of which begins where a hop does
 */
export function buzzIn(sentences: readonly Float32Array[]): number {
  const shares = new Float64Array(PLACES);
  for (const samples of sentences) {
    const high = highBand(samples);
    const first = HOP_SAMPLES - REACH;
    for (let hop = first; hop + 2 * HOP_SAMPLES <= high.length; hop += HOP_SAMPLES) {
      const energies = energiesOf(high.subarray(hop, hop + HOP_SAMPLES));
      const around = sumOf(energiesOf(high.subarray(Math.max(0, hop - HOP_SAMPLES), hop + 2 * HOP_SAMPLES)));
      if (around < INAUDIBLE) continue;
      energies.forEach((energy, place) => {
        shares[place]! += energy / around;
      });
    }
  }
  return Math.max(...shares) / Math.min(...shares);
}

/** By tenths. */
function energiesOf(samples: Float32Array): Float64Array {
  const energies = new Float64Array(PLACES);
  samples.forEach((sample, index) => {
    energies[Math.floor((index * PLACES) / samples.length)]! += sample * sample;
  });
  return energies;
}

function sumOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Without the filter's first and last samples. */
function highBand(samples: Float32Array): Float32Array {
  const out = new Float32Array(Math.max(0, samples.length - FILTER.length + 1));
  for (let i = 0; i < out.length; i++) {
    let sum = 0;
    for (let tap = 0; tap < FILTER.length; tap++) sum += FILTER[tap]! * samples[i + tap]!;
    out[i] = sum;
  }
  return out;
}

const HOP_SAMPLES = 300;
const PLACES = 10;
/** An RMS of 90 dB below full scale over three hops. */
const INAUDIBLE = 1e-9 * 900;
/** A sinc over a Blackman window, 1.4 ms wide on either side. */
const REACH = 64;
const FILTER = Float64Array.from({ length: 2 * REACH + 1 }, (_, index) => {
  const at = index - REACH;
  const low = (hz: number) =>
    at === 0
      ? (2 * hz) / SAMPLE_RATE_HZ
      : Math.sin((2 * Math.PI * hz * at) / SAMPLE_RATE_HZ) / (Math.PI * at);
  const turn = (Math.PI * (at + REACH)) / REACH;
  return (low(11_900) - low(10_100)) * (0.42 - 0.5 * Math.cos(turn) + 0.08 * Math.cos(2 * turn));
});
