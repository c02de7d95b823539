import type { Clip } from "../../src/core/conversation.ts";

/** Makes a clip from a function of time. */
export function clipOf(
  durationS: number,
  sampleAt: (timeS: number, index: number) => number,
  sampleRateHz = 16_000,
): Clip {
  const count = Math.round(durationS * sampleRateHz);
  const samples = Float32Array.from({ length: count }, (_, at) => sampleAt(at / sampleRateHz, at));
  return { samples, sampleRateHz, durationS: count / sampleRateHz, digest: `clip of ${count}` };
}

export function silence(durationS: number): Clip {
  return clipOf(durationS, () => 0);
}

/** White noise, always the same. */
export function whiteNoise(durationS: number, peak = 0.2): Clip {
  let state = 1;
  return clipOf(durationS, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (peak * state) / 2 ** 31;
  });
}

/** A buzz in syllables, modulated like speech. */
export function babble(durationS: number, sampleRateHz = 16_000): Clip {
  return clipOf(
    durationS,
    (timeS) => {
      const voice = Math.sin(2 * Math.PI * 130 * timeS) + 0.6 * Math.sin(2 * Math.PI * 650 * timeS);
      return 0.3 * voice * Math.sin(Math.PI * 3 * timeS) ** 2;
    },
    sampleRateHz,
  );
}
