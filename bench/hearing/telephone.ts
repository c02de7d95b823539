import { resample } from "../../src/audio/resample.ts";
import type { Clip } from "../../src/core/conversation.ts";
import { clipOf, noise, randomFor, rmsOf } from "./sounds.ts";

const LINE_HZ = 8_000;
const LOWEST_HZ = 300;
/** Of ITU-T G.711. */
const MU = 255;

/**
 * A clip as it comes over a telephone: 300 Hz to 3.4 kHz, white noise so many decibels below it, and 8 bits of µ-law.
 */
export function overTelephone(clip: Clip, noiseDb: number): Clip {
  const line = highPassed(resample(clip.samples, clip.sampleRateHz, LINE_HZ));
  const durationS = line.length / LINE_HZ;
  const hiss = noise(durationS, 0, randomFor(`line ${clip.digest}`));
  const gain = rmsOf(line) * 10 ** (-noiseDb / 20);
  const heard = line.map((value, at) => companded(value + gain * (hiss[at] ?? 0)));
  return clipOf(heard, `${clip.digest} ${noiseDb} dB`, LINE_HZ);
}

/** To µ-law and back. */
export function companded(value: number): number {
  const held = Math.max(-1, Math.min(1, value));
  const code = Math.round((127 * Math.log1p(MU * Math.abs(held))) / Math.log1p(MU));
  return (Math.sign(held) * Math.expm1((code / 127) * Math.log1p(MU))) / MU;
}

/** Two poles at 300 Hz (RBJ's audio EQ cookbook, Q = 0.707). */
function highPassed(samples: Float32Array): Float32Array {
  const angle = (2 * Math.PI * LOWEST_HZ) / LINE_HZ;
  const alpha = Math.sin(angle) / Math.SQRT2;
  const [cos, a0] = [Math.cos(angle), 1 + alpha];
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  return samples.map((x) => {
    const y = (((1 + cos) / 2) * (x - 2 * x1 + x2) + 2 * cos * y1 - (1 - alpha) * y2) / a0;
    [x2, x1, y2, y1] = [x1, x, y1, y];
    return y;
  });
}
