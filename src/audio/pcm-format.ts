import { AudioFormatError } from "./audio-format-error.ts";
import { joinBytes } from "./pcm.ts";

/** Readable sample formats: little-endian numbers, and the codes of ITU-T G.711. */
export type SampleKind = "u8" | "s16" | "s24" | "s32" | "f32" | "f64" | "mulaw" | "alaw";

/** Format of raw interleaved samples. */
export interface PcmFormat {
  readonly kind: SampleKind;
  readonly sampleRateHz: number;
  readonly channels: number;
}

/** Returns the bytes of one sample of each channel. */
export function frameBytes({ kind, channels }: Pick<PcmFormat, "kind" | "channels">): number {
  return channels * BYTES_PER_SAMPLE[kind];
}

const BYTES_PER_SAMPLE: Readonly<Record<SampleKind, number>> = {
  mulaw: 1,
  alaw: 1,
  u8: 1,
  s16: 2,
  s24: 3,
  s32: 4,
  f32: 4,
  f64: 8,
};

/**
 * Mixes interleaved little-endian samples down to one channel in [-1, 1]: the mean of each frame, clipped. Integers
 * are scaled by their most negative value, so that -1 is reached exactly. `bytes` must hold at least `frames` whole
 * frames.
 *
 * Throws {@link AudioFormatError} if a float is not finite.
 *
 * @param first number of the first frame, for that error
 */
export function mixDown(
  bytes: Uint8Array,
  { kind, channels }: PcmFormat,
  frames: number,
  first = 0,
): Float32Array {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const bytesPerSample = frameBytes({ kind, channels: 1 });
  const mono = new Float32Array(frames);
  let at = 0;
  for (let frame = 0; frame < frames; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) {
      sum += sampleAt(data, at, kind);
      at += bytesPerSample;
    }
    const mean = sum / channels;
    if (!Number.isFinite(mean)) throw new AudioFormatError(`sample ${first + frame} is not a finite number`);
    mono[frame] = Math.max(-1, Math.min(1, mean));
  }
  return mono;
}

/** Reassembles bytes that arrive in chunks of any size, so that no frame (a sample of each channel) is split. */
export class WholeFrames {
  readonly #frameBytes: number;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(frameBytes: number) {
    this.#frameBytes = frameBytes;
  }

  /** Returns all frames that are complete now; may be empty. */
  push(piece: Uint8Array): Uint8Array {
    const all = this.#rest.length === 0 ? piece : joinBytes([this.#rest, piece]);
    const wholeBytes = all.length - (all.length % this.#frameBytes);
    // Copied so that the remainder does not keep the whole chunk alive.
    this.#rest = Uint8Array.from(all.subarray(wholeBytes));
    return all.subarray(0, wholeBytes);
  }
}

function sampleAt(data: DataView, at: number, kind: SampleKind): number {
  switch (kind) {
    case "mulaw":
      return MULAW[data.getUint8(at)]!;
    case "alaw":
      return ALAW[data.getUint8(at)]!;
    case "u8":
      return (data.getUint8(at) - 0x80) / 0x80;
    case "s16":
      return data.getInt16(at, true) / 0x8000;
    case "s24":
      return ((data.getInt8(at + 2) << 16) | data.getUint16(at, true)) / 0x800000;
    case "s32":
      return data.getInt32(at, true) / 0x80000000;
    case "f32":
      return data.getFloat32(at, true);
    case "f64":
      return data.getFloat64(at, true);
  }
}

/** Encodes a 16-bit sample as a byte of ITU-T G.711. */
export type Companding = (sample: number) => number;

/** Encodes as in North America and Japan: sign, three bits of exponent, four of mantissa, all inverted. */
export function mulaw(sample: number): number {
  const biased = Math.min(Math.abs(sample), MAX_LEVEL) + MULAW_BIAS;
  const exponent = 24 - Math.clz32(biased);
  const mantissa = (biased >> (exponent + 3)) & 0x0f;
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff;
}

/** Encodes as in the rest of the world: the same with a linear beginning, and every other bit inverted. */
export function alaw(sample: number): number {
  const level = Math.min(Math.abs(sample), MAX_LEVEL);
  const exponent = Math.max(0, 24 - Math.clz32(level));
  const mantissa = (level >> Math.max(4, exponent + 3)) & 0x0f;
  return ((sample < 0 ? 0 : 0x80) | (exponent << 4) | mantissa) ^ 0x55;
}

const MAX_LEVEL = 32_635;
const MULAW_BIAS = 132;

/** Decodes a byte of {@link mulaw} to the middle of its interval, as a 16-bit sample. */
export function expandMulaw(byte: number): number {
  const code = ~byte & 0xff;
  const level = ((((code & 0x0f) << 3) + MULAW_BIAS) << ((code >> 4) & 7)) - MULAW_BIAS;
  return (code & 0x80) === 0 ? level : -level;
}

/** Decodes a byte of {@link alaw} likewise. */
export function expandAlaw(byte: number): number {
  const code = byte ^ 0x55;
  const exponent = (code >> 4) & 7;
  const step = ((code & 0x0f) << 4) + 8;
  const level = exponent === 0 ? step : (step + 0x100) << (exponent - 1);
  return (code & 0x80) === 0 ? -level : level;
}

/** Samples in [-1, 1] by code. */
const MULAW = Float32Array.from({ length: 256 }, (_, code) => expandMulaw(code) / 0x8000);
const ALAW = Float32Array.from({ length: 256 }, (_, code) => expandAlaw(code) / 0x8000);
