import { AudioFormatError } from "../audio-format-error.ts";
import { type FlacFormat, readFlacFrame } from "./flac-frame.ts";
import type { Recording } from "./recording.ts";
import { SampleSink } from "./sample-sink.ts";

/** Decodes FLAC (RFC 9639) of up to 24 bits. Throws as `decodeRecording` does. */
export async function decodeFlac(bytes: Uint8Array, mostS: number): Promise<Recording> {
  const { format, samples, firstFrame } = readHead(bytes);
  const sink = new SampleSink(format.sampleRateHz, mostS);
  const floats: Float32Array[] = [];
  for (let at = firstFrame; at < bytes.length && (samples === 0 || sink.length < samples); ) {
    const { channels, bitsPerSample, end } = readFlacFrame(bytes, at, format);
    const scale = 2 ** (1 - bitsPerSample);
    floats.length = 0;
    for (const channel of channels) floats.push(scaled(channel, scale));
    sink.add(floats);
    at = end;
  }
  if (sink.length < samples) {
    throw new AudioFormatError(`it is cut off: ${samples} samples are declared and ${sink.length} are there`);
  }
  return sink.finish();
}

function scaled(channel: Int32Array, scale: number): Float32Array {
  const floats = new Float32Array(channel.length);
  for (let at = 0; at < channel.length; at += 1) floats[at] = channel[at]! * scale;
  return floats;
}

interface Head {
  readonly format: FlacFormat;
  /** Of each channel; 0 where it is not said. */
  readonly samples: number;
  readonly firstFrame: number;
}

const STREAM_INFO_BYTES = 34;

function readHead(bytes: Uint8Array): Head {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: FlacFormat | null = null;
  let samples = 0;
  let at = 4;
  for (let isLast = false; !isLast; ) {
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
  if (format.sampleRateHz < 1_000) {
    throw new AudioFormatError(`its sample rate is ${format.sampleRateHz} Hz, which cannot be read`);
  }
  return { format, samples, firstFrame: at };
}
