import { MPEGDecoder } from "mpg123-decoder";
import { AudioFormatError } from "../audio-format-error.ts";
import type { DecodingBudget } from "./decoding-budget.ts";
import { readMp3Frames } from "./mp3-frames.ts";
import type { DecodedBlock, RecordingDecoder } from "./recording.ts";

/** So much is decoded at once, and charged only then: 8 s at the lowest bitrate that there is. */
const PIECE_BYTES = 8 * 1024;
/** Channels that the decoder makes of whatever there are. */
const CHANNELS = 2;
/** Decoders do not agree on what of a damaged file is a frame. */
const TOLERANCE = 0.05;
const TOLERANCE_S = 5;

/** Looks MPEG audio over, mostly layer III. What is no frame is passed over, as players do. Throws as `openRecording` does. */
export function openMp3(bytes: Uint8Array, budget: DecodingBudget): RecordingDecoder {
  const frames = readMp3Frames(bytes, budget);
  if (frames === null) throw new AudioFormatError("it has no frames of MP3");
  const { sampleRateHz, durationS, isExact } = frames;
  budget.checkLength(durationS - TOLERANCE_S);
  const claimedS = isExact ? (1 + TOLERANCE) * durationS + TOLERANCE_S : Number.POSITIVE_INFINITY;
  async function* blocks(): AsyncGenerator<DecodedBlock, void, void> {
    const decoder = new MPEGDecoder();
    await decoder.ready;
    let decodedS = 0;
    try {
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        budget.chargeItems(1);
        const piece = decoder.decode(bytes.subarray(at, at + PIECE_BYTES));
        const { channelData, samplesDecoded, sampleRate } = piece;
        if (samplesDecoded === 0) continue;
        if (sampleRate !== sampleRateHz) {
          throw new AudioFormatError(`its sample rate changes from ${sampleRateHz} to ${sampleRate} Hz`);
        }
        budget.chargeSound(samplesDecoded, CHANNELS, sampleRateHz);
        decodedS += samplesDecoded / sampleRateHz;
        if (decodedS > claimedS) throw new AudioFormatError("it has more sound than its frames say");
        yield { channels: channelData, from: 0, to: samplesDecoded, scale: 1 };
      }
    } finally {
      decoder.free();
    }
  }
  return { sampleRateHz, boundS: Math.min(budget.maxS, claimedS), blocks };
}
