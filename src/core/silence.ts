import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../audio/format.ts";
import type { Frame, SpeechReport } from "./speech-model.ts";

/** Speech of a text that has no words: frames of silence. */
export async function* silence(durationS: number): AsyncGenerator<Frame, SpeechReport, void> {
  let left = Math.round(durationS * SAMPLE_RATE_HZ);
  for (; left > 0; left -= FRAME_SAMPLES) {
    yield { samples: new Float32Array(Math.min(left, FRAME_SAMPLES)) };
  }
  return { stop: "finished", spoken: "" };
}
