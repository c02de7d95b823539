import { AudioFormatError } from "../audio-format-error.ts";
import type { DecodingBudget } from "./decoding-budget.ts";
import { type FlacFormat, FlacFrameReader } from "./flac-frame.ts";
import type { DecodedBlock, RecordingDecoder } from "./recording.ts";

/** Looks a file of FLAC over (RFC 9639), of up to 24 bits. Throws as `openRecording` does. */
export function openFlac(bytes: Uint8Array, budget: DecodingBudget): RecordingDecoder {
  const { format, samples, firstFrame } = readHead(bytes, budget);
  const { sampleRateHz } = format;
  budget.checkFormat(sampleRateHz, format.channels);
  budget.checkLength(samples / sampleRateHz);
  budget.checkWork(samples * format.channels);
  async function* blocks(): AsyncGenerator<DecodedBlock, void, void> {
    const reader = new FlacFrameReader(bytes, format, budget);
    let decoded = 0;
    for (let at = firstFrame; at < bytes.length && (samples === 0 || decoded < samples); ) {
      const { channels, count, scale, end } = reader.read(at);
      const to = samples === 0 ? count : Math.min(count, samples - decoded);
      decoded += to;
      at = end;
      yield { channels, from: 0, to, scale };
    }
    if (decoded < samples) {
      throw new AudioFormatError(`it is cut off: ${samples} samples are declared and ${decoded} are there`);
    }
  }
  return { sampleRateHz, boundS: samples === 0 ? budget.maxS : samples / sampleRateHz, blocks };
}

interface Head {
  readonly format: FlacFormat;
  /** Of each channel; 0 where it is not said. */
  readonly samples: number;
  readonly firstFrame: number;
}

const STREAM_INFO_BYTES = 34;

function readHead(bytes: Uint8Array, budget: DecodingBudget): Head {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: FlacFormat | null = null;
  let samples = 0;
  let at = 4;
  for (let isLast = false; !isLast; ) {
    budget.chargeItems(1);
    if (at + 4 > bytes.length) throw new AudioFormatError("it is cut off before its first frame");
    const kind = view.getUint8(at);
    const size = view.getUint32(at) & 0xff_ffff;
    isLast = (kind & 0x80) !== 0;
    at += 4;
    if (at + size > bytes.length) throw new AudioFormatError("it is cut off before its first frame");
    if ((kind & 0x7f) === 0 && size >= STREAM_INFO_BYTES) {
      const packed = view.getUint32(at + 10);
      format = {
        sampleRateHz: packed >>> 12,
        channels: ((packed >>> 9) & 7) + 1,
        bitsPerSample: ((packed >>> 4) & 31) + 1,
      };
      samples = (packed & 15) * 2 ** 32 + view.getUint32(at + 14);
    }
    at += size;
  }
  if (format === null) throw new AudioFormatError("its FLAC stream has no head");
  return { format, samples, firstFrame: at };
}
