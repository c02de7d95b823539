import { expandAlaw, expandMulaw } from "../../audio/companding.ts";
import { Resampler } from "../../audio/resample.ts";
import type { RealtimeFormat } from "../../contract/realtime/session.ts";
import { DETECTION_RATE_HZ } from "../../core/turn-detection.ts";

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
    const samples = new Float32Array(bytes.length);
    for (let at = 0; at < bytes.length; at += 1) samples[at] = expand(bytes[at]!) / FULL_SCALE;
    return samples;
  }

  #pcm(bytes: Uint8Array): Float32Array {
    const odd = this.#oddByte;
    const before = odd === null ? 0 : 1;
    const length = before + bytes.length;
    const samples = new Float32Array(length >> 1);
    const byteAt = (at: number): number => (at < before ? odd! : bytes[at - before]!);
    for (let at = 0; at < samples.length; at += 1) {
      const value = byteAt(2 * at) | (byteAt(2 * at + 1) << 8);
      samples[at] = ((value << 16) >> 16) / FULL_SCALE;
    }
    this.#oddByte = length % 2 === 1 ? byteAt(length - 1) : null;
    return samples;
  }
}
