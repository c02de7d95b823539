import { AudioFormatError } from "../audio-format-error.ts";
import { resample } from "../resample.ts";
import { type Recording, RecordingTooLongError } from "./recording.ts";

/** What is kept of recordings at higher rates; speech has little above half of it. */
const KEPT_HZ = 16_000;
/** Up to this rate a recording is kept at its own. */
const HIGHEST_KEPT_HZ = 24_000;
/** Input is converted about so much at a time, in whole seconds, with so much on either side that no filter reaches beyond. */
const BLOCK_SAMPLES = 1_500_000;
const MARGIN_S = 1;

/**
 * Gathers what a decoder gives, piece by piece: mixed down to one channel, and at most 24 kHz, so that what is kept takes
 * no more than a known number of bytes a second.
 */
export class SampleSink {
  readonly #sampleRateHz: number;
  readonly #mostS: number;
  readonly #keptHz: number;
  readonly #blockS: number;
  #kept = new Float32Array(1 << 16);
  #keptLength = 0;
  /** Input that is not converted yet, after a margin that is. */
  #pending: Float32Array<ArrayBuffer> = new Float32Array(0);
  #pendingLength = 0;
  #leadingLength = 0;
  #length = 0;

  /**
   * @param sampleRateHz of what comes in
   * @param keptHz of what is kept; unless told the same, but for high rates
   */
  constructor(
    sampleRateHz: number,
    mostS: number,
    keptHz = sampleRateHz > HIGHEST_KEPT_HZ ? KEPT_HZ : sampleRateHz,
  ) {
    this.#sampleRateHz = sampleRateHz;
    this.#mostS = mostS;
    this.#keptHz = keptHz;
    this.#blockS = Math.max(1, Math.floor(BLOCK_SAMPLES / sampleRateHz));
    if (this.#isConverting) this.#pending = new Float32Array(sampleRateHz * (this.#blockS + 2 * MARGIN_S));
  }

  /** Sample frames that have come in. */
  get length(): number {
    return this.#length;
  }

  /**
   * The next samples of all channels, in [-1, 1] or clipped to it. Throws {@link RecordingTooLongError} once there are
   * more than are taken, and {@link AudioFormatError} for what is no finite number.
   */
  add(channels: readonly Float32Array[], from = 0, to = channels[0]?.length ?? 0): void {
    if ((this.#length + to - from) / this.#sampleRateHz > this.#mostS) {
      throw new RecordingTooLongError(this.#mostS);
    }
    for (let at = from; at < to; ) {
      const piece = Math.min(
        to - at,
        this.#isConverting ? this.#pending.length - this.#pendingLength : to - at,
      );
      this.#mix(channels, at, piece);
      at += piece;
      if (this.#isConverting && this.#pendingLength === this.#pending.length) this.#convert(this.#blockS);
    }
  }

  /** All of it. Throws {@link AudioFormatError} where there is nothing. */
  finish(): Recording {
    if (this.#length === 0) throw new AudioFormatError("it has no samples");
    if (this.#isConverting) this.#convert(null);
    const samples = this.#kept.slice(0, this.#keptLength);
    return { samples, sampleRateHz: this.#keptHz, durationS: this.#length / this.#sampleRateHz };
  }

  get #isConverting(): boolean {
    return this.#keptHz !== this.#sampleRateHz;
  }

  #mix(channels: readonly Float32Array[], from: number, count: number): void {
    const into = this.#isConverting ? this.#pending : this.#room(count);
    const start = this.#isConverting ? this.#pendingLength : this.#keptLength;
    for (let at = 0; at < count; at += 1) {
      let sum = 0;
      for (const channel of channels) sum += channel[from + at]!;
      const mean = sum / channels.length;
      if (!Number.isFinite(mean)) {
        throw new AudioFormatError(`sample ${this.#length + at} is not a finite number`);
      }
      into[start + at] = Math.max(-1, Math.min(1, mean));
    }
    this.#length += count;
    if (this.#isConverting) this.#pendingLength += count;
    else this.#keptLength += count;
  }

  /** @param blockS how much of what is pending is converted, whole seconds; `null` is the rest of it */
  #convert(blockS: number | null): void {
    const input = this.#pending.subarray(0, this.#pendingLength);
    const output = resample(input, this.#sampleRateHz, this.#keptHz);
    // Both are whole seconds, so that every block begins at the same place between two samples.
    const first = (this.#leadingLength / this.#sampleRateHz) * this.#keptHz;
    const last = blockS === null ? output.length : first + blockS * this.#keptHz;
    const block = output.subarray(first, last);
    this.#room(block.length).set(block, this.#keptLength);
    this.#keptLength += block.length;
    if (blockS === null) return;
    const converted = this.#leadingLength + blockS * this.#sampleRateHz;
    this.#leadingLength = MARGIN_S * this.#sampleRateHz;
    this.#pending.copyWithin(0, converted - this.#leadingLength, this.#pendingLength);
    this.#pendingLength -= converted - this.#leadingLength;
  }

  #room(count: number): Float32Array<ArrayBuffer> {
    const length = this.#keptLength + count;
    if (length > this.#kept.length) {
      const larger = new Float32Array(Math.max(length, 2 * this.#kept.length));
      larger.set(this.#kept.subarray(0, this.#keptLength));
      this.#kept = larger;
    }
    return this.#kept;
  }
}
