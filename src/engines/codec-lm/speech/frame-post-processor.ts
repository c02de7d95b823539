import { FRAME_SAMPLES } from "../../../audio/format.ts";
import { ButterworthLowPass } from "../../../audio/low-pass.ts";
import type { AudioQuality } from "../../../core/script.ts";
import type { Frame } from "../../../core/speech-model.ts";

/** Bandwidths, as of the embedded voice; `null`: the codec's full bandwidth. */
const CUTOFFS_HZ: Readonly<Record<AudioQuality, number | null>> = { low: 4_000, medium: 7_000, high: null };

/** 10 ms to fade out a cut or smooth a step. */
const FADE_SAMPLES = 240;
/** 40 dB below full scale: a smaller step does not click. */
const MAX_STEP = 0.01;

/**
 * Turns the samples of segments into an utterance's frames: no clicks at segment borders, filtered to the requested
 * bandwidth, within [-1, 1], and at most `max` frames. Holds the last possible frame back until it is known whether
 * speech ends with it.
 */
export class FramePostProcessor {
  readonly #max: number;
  readonly #filter: ButterworthLowPass | null;
  #last = 0;
  #isNewSegment = true;
  #count = 0;
  #heldFrame: Float32Array | null = null;
  #isOver = false;

  constructor(max: number, quality: AudioQuality) {
    const cutoffHz = CUTOFFS_HZ[quality];
    this.#max = max;
    this.#filter = cutoffHz === null ? null : new ButterworthLowPass(cutoffHz);
  }

  get framesLeft(): number {
    return this.#max - this.#count;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  get isFull(): boolean {
    return this.#isOver;
  }

  /** Marks that the next samples do not continue the previous ones. */
  beginSegment(): void {
    this.#isNewSegment = true;
  }

  /** Adds 1920 samples, which are copied. @returns the frames that are final */
  add(samples: Float32Array): Frame[] {
    if (this.framesLeft === 0) {
      this.#isOver = true;
      return [];
    }
    const made = this.#process(samples);
    this.#count += 1;
    if (this.framesLeft > 0) return [{ samples: made }];
    this.#heldFrame = made;
    return [];
  }

  *pause(frames: number): Generator<Frame, void, void> {
    this.beginSegment();
    const silence = new Float32Array(FRAME_SAMPLES);
    for (let left = Math.min(frames, this.framesLeft); left > 0; left--) yield* this.add(silence);
    this.beginSegment();
  }

  /** Returns the remaining frames of complete speech, faded out if it stops within a wave. */
  end(): Frame[] {
    const isStep = Math.abs(this.#last) > MAX_STEP;
    if (isStep && this.#heldFrame !== null) fade(this.#heldFrame);
    if (this.#heldFrame !== null) return [{ samples: this.#heldFrame }];
    if (!isStep) return [];
    this.beginSegment();
    return [{ samples: this.#process(new Float32Array(FADE_SAMPLES)) }];
  }

  /** Returns the remaining frame of speech that was cut, faded out. */
  endCut(): Frame[] {
    if (this.#heldFrame === null) return [];
    fade(this.#heldFrame);
    return [{ samples: this.#heldFrame }];
  }

  #process(samples: Float32Array): Float32Array {
    const made = samples.slice();
    if (this.#isNewSegment) smooth(made, this.#last - made[0]!);
    this.#isNewSegment = false;
    this.#last = made.at(-1)!;
    this.#filter?.apply(made);
    for (let at = 0; at < made.length; at++) made[at] = Math.max(-1, Math.min(1, made[at]!));
    return made;
  }
}

/** Removes a step at a segment's start by decaying it over 10 ms. */
function smooth(samples: Float32Array, step: number): void {
  if (Math.abs(step) <= MAX_STEP) return;
  for (let at = 0; at < FADE_SAMPLES; at++) {
    samples[at]! += (step * (1 + Math.cos((Math.PI * at) / (FADE_SAMPLES - 1)))) / 2;
  }
}

function fade(samples: Float32Array): void {
  const from = samples.length - FADE_SAMPLES;
  for (let at = 0; at < FADE_SAMPLES; at++) samples[from + at]! *= 1 - (at + 1) / FADE_SAMPLES;
}
