import { expandAlaw, expandMulaw } from "../audio/companding.ts";
import { Resampler } from "../audio/resample.ts";
import type { RealtimeFormat } from "../contract/realtime/session.ts";
import { DETECTION_RATE_HZ } from "../model/turn-detection.ts";

const FULL_SCALE = 32_768;

/** Makes samples at 16 kHz of a client's bytes, which may be cut anywhere. */
export class SoundInput {
  readonly #type: RealtimeFormat["type"];
  readonly #resampler: Resampler;
  /** The first byte of a sample whose second has not come. */
  #oddByte: number | null = null;

  constructor({ type }: RealtimeFormat) {
    this.#type = type;
    this.#resampler = new Resampler(type === "audio/pcm" ? 24_000 : 8_000, DETECTION_RATE_HZ);
  }

  get type(): RealtimeFormat["type"] {
    return this.#type;
  }

  /** Bytes of a second. */
  get bytesPerS(): number {
    return this.#type === "audio/pcm" ? 48_000 : 8_000;
  }

  /** What the bytes so far are enough for. */
  push(bytes: Uint8Array): Float32Array {
    return this.#resampler.push(this.#type === "audio/pcm" ? this.#pcm(bytes) : this.#companded(bytes));
  }

  #companded(bytes: Uint8Array): Float32Array {
    const expand = this.#type === "audio/pcmu" ? expandMulaw : expandAlaw;
    return Float32Array.from(bytes, (byte) => expand(byte) / FULL_SCALE);
  }

  #pcm(bytes: Uint8Array): Float32Array {
    const odd = this.#oddByte;
    const whole = odd === null ? bytes : Uint8Array.of(odd, ...bytes.subarray(0, 1));
    const samples: Float32Array[] = [];
    if (odd !== null && whole.length === 2) samples.push(samplesOf(whole));
    const rest = odd === null ? bytes : bytes.subarray(1);
    this.#oddByte = odd !== null && bytes.length === 0 ? odd : rest.length % 2 === 1 ? rest.at(-1)! : null;
    samples.push(samplesOf(rest));
    if (samples.length === 1) return samples[0]!;
    const all = new Float32Array(samples[0]!.length + samples[1]!.length);
    all.set(samples[0]!);
    all.set(samples[1]!, samples[0]!.length);
    return all;
  }
}

function samplesOf(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Float32Array.from(
    { length: bytes.length >> 1 },
    (_, at) => view.getInt16(2 * at, true) / FULL_SCALE,
  );
}
