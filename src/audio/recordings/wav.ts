import { mixDown } from "../mix-down.ts";
import type { SampleKind, WavSamples } from "../wav-format.ts";
import { openWavFile } from "../wav-read.ts";
import type { DecodingBudget } from "./decoding-budget.ts";
import type { DecodedBlock, RecordingDecoder } from "./recording.ts";

/** How bare samples are stored: whole numbers, little-endian, the channels interleaved. */
export interface PcmFormat {
  readonly sampleRateHz: number;
  readonly bytesPerSample: 2 | 3 | 4;
  readonly channels: number;
}

/** Looks a WAV file over. Throws as `openRecording` does. */
export function openWav(bytes: Uint8Array, budget: DecodingBudget): RecordingDecoder {
  return openSamples(openWavFile(bytes, { isRecording: true, onChunk: () => budget.chargeItems(1) }), budget);
}

const KINDS = { 2: "s16", 3: "s24", 4: "s32" } as const;

/** The same of samples without a file around them. */
export function openPcm(
  bytes: Uint8Array,
  { sampleRateHz, bytesPerSample, channels }: PcmFormat,
  budget: DecodingBudget,
): RecordingDecoder {
  const kind: SampleKind = KINDS[bytesPerSample];
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames = Math.floor(bytes.length / (channels * bytesPerSample));
  return openSamples({ format: { kind, sampleRateHz, channels, bytesPerSample }, data, frames }, budget);
}

/** Samples that are decoded at a time, of each channel. */
const BLOCK_SAMPLES = 16_384;

function openSamples({ format, data, frames }: WavSamples, budget: DecodingBudget): RecordingDecoder {
  const { kind, sampleRateHz, channels } = format;
  budget.checkFormat(sampleRateHz, channels);
  const boundS = frames / sampleRateHz;
  budget.checkLength(boundS);
  async function* blocks(): AsyncGenerator<DecodedBlock, void, void> {
    for (let at = 0; at < frames; at += BLOCK_SAMPLES) {
      const count = Math.min(BLOCK_SAMPLES, frames - at);
      budget.chargeSound(count, channels, sampleRateHz);
      yield { channels: [mixDown(data, kind, channels, count, at)], from: 0, to: count, scale: 1 };
    }
  }
  return { sampleRateHz, boundS, blocks };
}
