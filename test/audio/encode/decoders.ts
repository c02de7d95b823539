import { FLACDecoder } from "@wasm-audio-decoders/flac";
import { MPEGDecoder } from "mpg123-decoder";
import { OggOpusDecoder } from "ogg-opus-decoder";
import { decodeWav } from "../../../src/audio/decode-wav.ts";
import type { Encoding } from "../../../src/audio/encode/encoder.ts";

/** Output of third-party decoders: samples in [-1, 1] and their rate. */
export interface Decoded {
  readonly samples: Float32Array;
  readonly rateHz: number;
}

/** Decodes a file. @param isWhole whether the file ends here, so that the decoder's tail is flushed */
export function decode(encoding: Encoding, bytes: Uint8Array, isWhole = true): Promise<Decoded> | Decoded {
  if (encoding === "mp3") return decodeMpeg(bytes);
  if (encoding === "opus") return decodeOpus(bytes, isWhole);
  if (encoding === "flac") return decodeFlac(bytes, isWhole);
  if (encoding === "mulaw") return { samples: Float32Array.from(bytes, expandMulaw), rateHz: 8_000 };
  if (encoding === "alaw") return { samples: Float32Array.from(bytes, expandAlaw), rateHz: 8_000 };
  if (encoding === "wav") return { samples: decodeWav(bytes).samples, rateHz: decodeWav(bytes).sampleRateHz };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const samples = Float32Array.from(
    { length: bytes.length / 2 },
    (_, at) => view.getInt16(2 * at, true) / 32_767,
  );
  return { samples, rateHz: encoding === "pcm" ? 24_000 : Number(encoding.slice("pcm_".length)) };
}

async function decodeMpeg(bytes: Uint8Array): Promise<Decoded> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  const { channelData, samplesDecoded, sampleRate } = decoder.decode(bytes);
  decoder.free();
  return { samples: (channelData[0] as Float32Array).slice(0, samplesDecoded), rateHz: sampleRate };
}

async function decodeOpus(bytes: Uint8Array, isWhole: boolean): Promise<Decoded> {
  const decoder = new OggOpusDecoder();
  await decoder.ready;
  const parts = [await decoder.decode(bytes)];
  if (isWhole) parts.push(await decoder.flush());
  decoder.free();
  // Decodes at 48 kHz; every other sample is an input sample.
  return { samples: gathered(parts).filter((_, at) => at % 2 === 0), rateHz: 24_000 };
}

async function decodeFlac(bytes: Uint8Array, isWhole: boolean): Promise<Decoded> {
  const decoder = new FLACDecoder();
  await decoder.ready;
  const parts = [await decoder.decode(bytes)];
  if (isWhole) parts.push(await decoder.flush());
  decoder.free();
  return { samples: gathered(parts), rateHz: 24_000 };
}

function gathered(
  parts: readonly { channelData: Float32Array[]; samplesDecoded: number; errors: unknown[] }[],
): Float32Array {
  const wrong = parts.flatMap(({ errors }) => errors);
  if (wrong.length > 0) throw new Error(`the decoder says: ${JSON.stringify(wrong[0])}`);
  const samples = new Float32Array(parts.reduce((sum, { samplesDecoded }) => sum + samplesDecoded, 0));
  let at = 0;
  for (const { channelData, samplesDecoded } of parts) {
    samples.set(channelData[0]?.subarray(0, samplesDecoded) ?? [], at);
    at += samplesDecoded;
  }
  return samples;
}

/** ITU-T G.711, table 2a: the middle of each step. */
function expandMulaw(code: number): number {
  const value = ~code & 0xff;
  const level = ((((value & 0x0f) << 3) + 132) << ((value & 0x70) >> 4)) - 132;
  return (value & 0x80 ? -level : level) / 32_767;
}

/** ITU-T G.711, table 1a. */
function expandAlaw(code: number): number {
  const value = code ^ 0x55;
  const exponent = (value & 0x70) >> 4;
  const step = (value & 0x0f) << 4;
  const level = exponent === 0 ? step + 8 : (step + 0x108) << (exponent - 1);
  return (value & 0x80 ? level : -level) / 32_767;
}
