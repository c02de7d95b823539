import { openWavFile } from "../wav-read.ts";
import type { DecodingBudget } from "./decoding-budget.ts";
import { openPcm } from "./pcm.ts";
import type { RecordingDecoder } from "./recording.ts";

/** Looks a WAV file over. Throws as `openRecording` does. */
export function openWav(bytes: Uint8Array, budget: DecodingBudget): RecordingDecoder {
  const onChunk = (): void => budget.chargeItems(1);
  const { format, samples } = openWavFile(bytes, { isRecording: true, onChunk });
  return openPcm(samples, format, budget);
}
