import { MPEGDecoder } from "mpg123-decoder";
import { AudioFormatError } from "../audio-format-error.ts";
import type { DecodingBudget } from "./decoding-budget.ts";
import type { DecodedBlock, RecordingDecoder } from "./recording.ts";

/** Bytes decoded, and then charged, at once: 8 s at the lowest bitrate. */
const PIECE_BYTES = 8 * 1024;
/** The decoder always returns two channels. */
const CHANNELS = 2;
/** Decoders disagree on which parts of a damaged file are frames. */
const TOLERANCE = 0.05;
const TOLERANCE_S = 5;

/**
 * Opens MPEG audio, mostly layer III. Skips bytes that are not frames, as players do. Throws as `openRecording` does.
 */
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

/** Summary of a file's frame headers. */
interface Mp3Frames {
  /** Rate of most of the sound. */
  readonly sampleRateHz: number;
  readonly durationS: number;
  /** Whether the headers give all lengths: not in a free format. */
  readonly isExact: boolean;
}

interface FrameHead {
  readonly sampleRateHz: number;
  readonly samples: number;
  /** Including the header; `null` in a free format. */
  readonly bytes: number | null;
}

/** Walks the frames without decoding; skips other bytes. Returns `null` if there is no frame. */
function readMp3Frames(bytes: Uint8Array, budget: DecodingBudget): Mp3Frames | null {
  const secondsAt = new Map<number, number>();
  let isExact = true;
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const head = bytes[at] === 0xff ? readFrameHead(bytes, at) : null;
    if (head === null) {
      at += 1;
      continue;
    }
    budget.chargeItems(1);
    const { sampleRateHz, samples } = head;
    secondsAt.set(sampleRateHz, (secondsAt.get(sampleRateHz) ?? 0) + samples / sampleRateHz);
    isExact &&= head.bytes !== null;
    at += head.bytes ?? HEAD_BYTES;
  }
  const rates = [...secondsAt].sort(([, one], [, other]) => other - one);
  if (rates.length === 0) return null;
  const durationS = rates.reduce((sum, [, seconds]) => sum + seconds, 0);
  return { sampleRateHz: rates[0]![0], durationS, isExact };
}

const HEAD_BYTES = 4;
const RATES_HZ = [44_100, 48_000, 32_000];
/**
 * Kilobits per second by code, for MPEG 1 and its half rates, and for the layers I, II and III (ISO 11172-3,
 * 13818-3).
 */
const BITRATES = {
  1: [
    [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  ],
  2: [
    [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ],
} as const;

/** Reads eleven ones; version, layer; bitrate, rate, padding. Returns `null` for anything else. */
export function readFrameHead(bytes: Uint8Array, at: number): FrameHead | null {
  const second = bytes[at + 1]!;
  const third = bytes[at + 2]!;
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  const rateHz = RATES_HZ[(third >> 2) & 3];
  const code = third >> 4;
  if ((second & 0xe0) !== 0xe0 || version === 1 || layer === 4 || rateHz === undefined || code === 15) {
    return null;
  }
  const isFull = version === 3;
  const sampleRateHz = isFull ? rateHz : version === 2 ? rateHz / 2 : rateHz / 4;
  const samples = layer === 1 ? 384 : layer === 3 && !isFull ? 576 : 1_152;
  const kilobits = BITRATES[isFull ? 1 : 2][layer - 1]![code]!;
  if (kilobits === 0) return { sampleRateHz, samples, bytes: null };
  const padding = (third >> 1) & 1;
  const slotBytes = layer === 1 ? 4 : 1;
  const slots = Math.floor((samples / 8 / slotBytes) * ((1_000 * kilobits) / sampleRateHz)) + padding;
  return { sampleRateHz, samples, bytes: slots * slotBytes };
}
