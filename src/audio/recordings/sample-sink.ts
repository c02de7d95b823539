import { AudioFormatError } from "../audio-format-error.ts";
import { Resampler } from "../resample.ts";
import type { DecodedBlock } from "./recording.ts";

/** Rate to which faster recordings are converted; speech has little above half of it. */
const KEPT_HZ = 16_000;
/** Recordings up to this rate keep their own. */
const MAX_KEPT_HZ = 24_000;
/** Returns the rate at which a recording is kept. */
export function keptRateHz(fromHz: number): number {
  return fromHz > MAX_KEPT_HZ ? KEPT_HZ : fromHz;
}

/** Input samples converted at a time: filters cost less over long blocks. */
const BLOCK_SAMPLES = 32_768;

/** Mixes decoded blocks down to one channel at 24 kHz or less. Keeps only what was not taken yet. */
export class SampleSink {
  readonly sampleRateHz: number;
  readonly #resampler: Resampler | null;
  /** Input that is not converted yet. */
  readonly #pending: Float32Array;
  #pendingLength = 0;
  /** Converted samples are those from `#from` to `#to`. */
  #ready = new Float32Array(BLOCK_SAMPLES);
  #from = 0;
  #to = 0;
  #received = 0;

  /** @param sampleRateHz rate of the output. Default: the input's, except for high rates */
  constructor(fromHz: number, sampleRateHz = keptRateHz(fromHz)) {
    this.sampleRateHz = sampleRateHz;
    this.#resampler = sampleRateHz === fromHz ? null : new Resampler(fromHz, sampleRateHz);
    this.#pending = new Float32Array(this.#resampler === null ? 0 : BLOCK_SAMPLES);
  }

  /** Sample frames received. */
  get received(): number {
    return this.#received;
  }

  /** Samples that can be taken. */
  get available(): number {
    return this.#to - this.#from;
  }

  /** Adds a block; samples are clipped to [-1, 1]. Throws {@link AudioFormatError} for a non-finite sample. */
  add(block: DecodedBlock): void {
    if (this.#resampler === null) {
      const count = block.to - block.from;
      this.#makeRoom(count);
      this.#mix(block, block.from, count, this.#ready, this.#to);
      this.#to += count;
      return;
    }
    for (let at = block.from; at < block.to; ) {
      const count = Math.min(block.to - at, BLOCK_SAMPLES - this.#pendingLength);
      this.#mix(block, at, count, this.#pending, this.#pendingLength);
      this.#pendingLength += count;
      at += count;
      if (this.#pendingLength === BLOCK_SAMPLES) this.#convert();
    }
  }

  /** Ends the input, once, so that the rest can be taken. */
  end(): void {
    if (this.#resampler === null) return;
    this.#convert();
    this.#keep(this.#resampler.end());
  }

  /** Takes up to `count` samples, as a new array. */
  take(count: number): Float32Array<ArrayBuffer> {
    const taken = this.#ready.slice(this.#from, Math.min(this.#to, this.#from + count));
    this.#from += taken.length;
    return taken;
  }

  #convert(): void {
    this.#keep(this.#resampler!.push(this.#pending.subarray(0, this.#pendingLength)));
    this.#pendingLength = 0;
  }

  #keep(samples: Float32Array): void {
    this.#makeRoom(samples.length);
    for (let at = 0; at < samples.length; at += 1) {
      // Filters overshoot.
      this.#ready[this.#to + at] = Math.max(-1, Math.min(1, samples[at]!));
    }
    this.#to += samples.length;
  }

  /** Moves the converted samples to the front, into a larger array if needed. */
  #makeRoom(count: number): void {
    if (this.#to + count <= this.#ready.length) return;
    const needed = this.available + count;
    const ready = needed <= this.#ready.length ? this.#ready : new Float32Array(2 * needed);
    // `set` handles the overlap within one array.
    ready.set(this.#ready.subarray(this.#from, this.#to));
    this.#ready = ready;
    this.#to -= this.#from;
    this.#from = 0;
  }

  #mix(
    { channels, scale }: DecodedBlock,
    from: number,
    count: number,
    into: Float32Array,
    start: number,
  ): void {
    const [first, second] = channels;
    if (scale === null) {
      into.set(first!.subarray(from, from + count), start);
      this.#received += count;
      return;
    }
    const factor = scale / channels.length;
    for (let at = 0; at < count; at += 1) {
      let sum = first![from + at]!;
      if (second !== undefined) {
        sum += second[from + at]!;
        for (let channel = 2; channel < channels.length; channel += 1) sum += channels[channel]![from + at]!;
      }
      const mean = sum * factor;
      if (!Number.isFinite(mean)) {
        throw new AudioFormatError(`sample ${this.#received + at} is not a finite number`);
      }
      into[start + at] = Math.max(-1, Math.min(1, mean));
    }
    this.#received += count;
  }
}
