import { drawn, limited, mixed, noise, RATE_HZ, randomFor, scaledToRms } from "./sounds.ts";

const TAU = 2 * Math.PI;
const LENGTH_S = 8;

/** Music by formula, 8 s of each. */
export const MADE_MUSIC: Readonly<Record<string, () => Float32Array>> = {
  chords: () => chords(),
  "an arpeggio": () => notes([0, 4, 7, 12, 16, 12, 7, 4], 0.25, plucked),
  "a melody with vibrato": () => notes([0, 2, 4, 5, 7, 5, 4, 2, 0, 7, 12, 7], 0.6, bowed),
  "a melody that glides": () =>
    drawn(LENGTH_S, (t) => 0.3 * Math.sin(TAU * 330 * t + 90 * Math.sin(TAU * 0.7 * t))),
  drums: () => drums(),
  "a band": () => mixed([chords(), drums(), notes([0, 7, 12, 7, 5, 4], 0.5, bowed)]),
  bells: () => notes([12, 7, 9, 4], 1.5, rung),
  "a tune that is hummed": () => notes([0, 2, 4, 0, 5, 4, 2, 0], 0.8, hummed),
};

/** A note's sample, so long after it has begun. */
type Instrument = (hz: number, sinceS: number, lengthS: number) => number;

function hertz(semitones: number): number {
  return 220 * 2 ** (semitones / 12);
}

function notes(scale: readonly number[], stepS: number, instrument: Instrument): Float32Array {
  return limited(
    drawn(LENGTH_S, (t) => {
      const step = Math.floor(t / stepS);
      return instrument(hertz(scale[step % scale.length]!), t - step * stepS, stepS);
    }),
  );
}

function chords(): Float32Array {
  const progression = [
    [0, 4, 7],
    [9, 12, 16],
    [5, 9, 12],
    [7, 11, 14],
  ];
  return limited(
    drawn(LENGTH_S, (t) => {
      const step = Math.floor(t);
      return progression[step % 4]!.reduce((sum, note) => sum + 0.4 * plucked(hertz(note), t - step, 1), 0);
    }),
  );
}

function drums(): Float32Array {
  const rattle = scaledToRms(noise(LENGTH_S, 0, randomFor("snare")), 0.3);
  return limited(
    drawn(LENGTH_S, (t) => {
      const [beat, half] = [t % 1, (t + 0.5) % 1];
      const kick =
        0.8 * Math.exp(-beat / 0.08) * Math.sin(TAU * (50 * beat + 3 * (1 - Math.exp(-beat / 0.02))));
      const snare = Math.exp(-half / 0.06) * rattle[Math.floor(t * RATE_HZ)]!;
      const hat = 0.3 * Math.exp(-(t % 0.25) / 0.015) * rattle[Math.floor(t * RATE_HZ)]!;
      return kick + snare + hat;
    }),
  );
}

const plucked: Instrument = (hz, since) =>
  [1, 2, 3, 4, 5].reduce(
    (sum, part) => sum + (0.35 / part) * Math.exp((-since * part) / 0.5) * Math.sin(TAU * hz * part * since),
    0,
  );

const bowed: Instrument = (hz, since, lengthS) => {
  const phase = TAU * hz * since + 0.15 * (hz / 220) * Math.sin(TAU * 5.5 * since);
  const swell = Math.min(1, since / 0.08) * Math.min(1, (lengthS - since) / 0.05);
  return swell * [1, 2, 3, 4].reduce((sum, part) => sum + (0.25 / part) * Math.sin(part * phase), 0);
};

const rung: Instrument = (hz, since) =>
  [1, 2.76, 5.4].reduce(
    (sum, part) => sum + (0.3 / part) * Math.exp((-since * part) / 0.9) * Math.sin(TAU * hz * part * since),
    0,
  );

/** A voice with its mouth closed: little above 500 Hz. */
const hummed: Instrument = (hz, since, lengthS) => {
  const phase = TAU * hz * since + 0.1 * Math.sin(TAU * 5 * since);
  const swell = Math.min(1, since / 0.1) * Math.min(1, (lengthS - since) / 0.1);
  return swell * [1, 2, 3].reduce((sum, part) => sum + (0.35 / part ** 2.5) * Math.sin(part * phase), 0);
};
