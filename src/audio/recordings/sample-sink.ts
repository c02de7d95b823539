import { AudioFormatError } from "../audio-format-error.ts";
import { Resampler } from "../resample.ts";
import type { DecodedBlock } from "./recording.ts";

/** What is kept of recordings at higher rates; speech has little above half of it. */
const KEPT_HZ = 16_000;
/** Up to this rate a recording is kept at its own. */
const MAX_KEPT_HZ = 24_000;
/** The rate that a recording is kept at, by its own. */
export function keptRateHz(fromHz: number): number {
  return fromHz > MAX_KEPT_HZ ? KEPT_HZ : fromHz;
}

/** Input is converted so much at a time: filters cost less over long stretches. */
const STRETCH_SAMPLES = 32_768;

/**
 * Takes what a decoder gives, block by block, and has it ready mixed down to one channel at 24 kHz or less. Keeps what was
 * not taken yet, and nothing else.
 */
export class SampleSink {
  readonly sampleRateHz: number;
  readonly #resampler: Resampler | null;
  /** Input that is not converted yet. */
  readonly #stretch: Float32Array;
  #stretchLength = 0;
  /** What is ready lies between these. */
  #ready = new Float32Array(STRETCH_SAMPLES);
  #from = 0;
  #to = 0;
  #received = 0;

  /**
   * @param fromHz of what comes in
   * @param sampleRateHz of what is ready; unless told the same, but for high rates
   */
  constructor(fromHz: number, sampleRateHz = keptRateHz(fromHz)) {
    this.sampleRateHz = sampleRateHz;
    this.#resampler = sampleRateHz === fromHz ? null : new Resampler(fromHz, sampleRateHz);
    this.#stretch = new Float32Array(this.#resampler === null ? 0 : STRETCH_SAMPLES);
  }

  /** Sample frames that have come in. */
  get received(): number {
    return this.#received;
  }

  /** Samples that can be taken. */
  get available(): number {
    return this.#to - this.#from;
  }

  /** Takes a block, whose samples are clipped to [-1, 1]. Throws {@link AudioFormatError} for what is no finite number. */
  add(block: DecodedBlock): void {
    if (this.#resampler === null) {
      const count = block.to - block.from;
      this.#makeRoom(count);
      this.#mix(block, block.from, count, this.#ready, this.#to);
      this.#to += count;
      return;
    }
    for (let at = block.from; at < block.to; ) {
      const count = Math.min(block.to - at, STRETCH_SAMPLES - this.#stretchLength);
      this.#mix(block, at, count, this.#stretch, this.#stretchLength);
      this.#stretchLength += count;
      at += count;
      if (this.#stretchLength === STRETCH_SAMPLES) this.#convert();
    }
  }

  /** No more will come: the rest can be taken too. Once. */
  end(): void {
    if (this.#resampler === null) return;
    this.#convert();
    this.#keep(this.#resampler.end());
  }

  /** Up to so many samples, in an array of their own. */
  take(count: number): Float32Array<ArrayBuffer> {
    const taken = this.#ready.slice(this.#from, Math.min(this.#to, this.#from + count));
    this.#from += taken.length;
    return taken;
  }

  #convert(): void {
    this.#keep(this.#resampler!.push(this.#stretch.subarray(0, this.#stretchLength)));
    this.#stretchLength = 0;
  }

  #keep(samples: Float32Array): void {
    this.#makeRoom(samples.length);
    for (let at = 0; at < samples.length; at += 1) {
      // A filter swings beyond what it is given.
      this.#ready[this.#to + at] = Math.max(-1, Math.min(1, samples[at]!));
    }
    this.#to += samples.length;
  }

  /** Moves what is ready to the front, into more memory where that is too little. */
  #makeRoom(count: number): void {
    if (this.#to + count <= this.#ready.length) return;
    const needed = this.available + count;
    const ready = needed <= this.#ready.length ? this.#ready : new Float32Array(2 * needed);
    // Within one array this moves what overlaps rightly.
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
