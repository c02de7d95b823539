import assert from "node:assert/strict";
import { AntiphonError, type Speech, type SpeechFrame } from "../../src/library/antiphon.ts";

export async function framesOf(speech: Speech): Promise<SpeechFrame[]> {
  const frames: SpeechFrame[] = [];
  for await (const frame of speech) frames.push(frame);
  return frames;
}

export function samplesOf(frames: readonly SpeechFrame[]): Float32Array {
  return Float32Array.from(frames.flatMap((frame) => [...frame.samples]));
}

export const secondsOf = (frames: readonly SpeechFrame[]) => samplesOf(frames).length / 24_000;

/** Returns the library error that the work fails with. */
export async function failure(work: () => unknown): Promise<AntiphonError> {
  try {
    await work();
  } catch (error) {
    assert.ok(error instanceof AntiphonError, String(error));
    return error;
  }
  return assert.fail("it did not fail");
}
