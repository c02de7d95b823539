import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TOP } from "../../architecture/top.ts";

export function goldenRecording(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(join(TOP, "test/golden/recordings", name)));
}

/** Returns the amplitude of a sine in the samples. */
export function amplitude(
  samples: Float32Array,
  sampleRateHz: number,
  toneHz: number,
  fromS = 0.2,
  toS = 1,
): number {
  const from = Math.round(fromS * sampleRateHz);
  const to = Math.round(toS * sampleRateHz);
  let sine = 0;
  let cosine = 0;
  for (let at = from; at < to; at += 1) {
    const angle = (2 * Math.PI * toneHz * at) / sampleRateHz;
    sine += samples[at]! * Math.sin(angle);
    cosine += samples[at]! * Math.cos(angle);
  }
  return (2 * Math.hypot(sine, cosine)) / (to - from);
}
