import { findWavSamples } from "../decode-wav.ts";
import { frameBytes, mixDown, type PcmFormat, WholeFrames } from "../pcm-format.ts";
import type { DecodingBudget } from "./decoding-budget.ts";
import type { DecodedBlock, RecordingDecoder } from "./recording.ts";

/** Samples that are decoded at a time, of each channel. */
const BLOCK_SAMPLES = 16_384;

/**
 * Samples of a declared format: all of them, or as they come, in pieces that may be cut anywhere. Throws as
 * `openRecording` does.
 */
export function openPcm(
  source: Uint8Array | AsyncIterable<Uint8Array>,
  format: PcmFormat,
  budget: DecodingBudget,
): RecordingDecoder {
  const { sampleRateHz, channels } = format;
  const bytesPerFrame = frameBytes(format);
  const isWhole = source instanceof Uint8Array;
  budget.checkFormat(sampleRateHz, channels);
  const boundS = isWhole ? Math.floor(source.length / bytesPerFrame) / sampleRateHz : budget.maxS;
  budget.checkLength(boundS);
  async function* blocks(): AsyncGenerator<DecodedBlock, void, void> {
    const whole = new WholeFrames(bytesPerFrame);
    let decoded = 0;
    for await (const piece of isWhole ? [source] : source) {
      if (!isWhole) budget.chargeItems(1);
      const bytes = whole.push(piece);
      for (let at = 0; at < bytes.length; at += BLOCK_SAMPLES * bytesPerFrame) {
        const count = Math.min(BLOCK_SAMPLES, (bytes.length - at) / bytesPerFrame);
        budget.chargeSound(count, channels, sampleRateHz);
        yield {
          channels: [mixDown(bytes.subarray(at), format, count, decoded)],
          from: 0,
          to: count,
          scale: null,
        };
        decoded += count;
      }
    }
  }
  return { sampleRateHz, boundS, blocks };
}

/** Looks a WAV file over. Throws as `openRecording` does. */
export function openWav(bytes: Uint8Array, budget: DecodingBudget): RecordingDecoder {
  const onChunk = (): void => budget.chargeItems(1);
  const { format, samples } = findWavSamples(bytes, { isCompandedAccepted: true, onChunk });
  return openPcm(samples, format, budget);
}
