import { FRAME_SAMPLES } from "../../../audio/format.ts";
import { ButterworthLowPass } from "../../../audio/low-pass.ts";
import type { AudioQuality } from "../../../core/script.ts";
import type { Frame } from "../../../core/speech-model.ts";

/** Bandwidth: 4 kHz, 7 kHz, and all that the codec has, as the embedded voice does. */
const CUTOFFS_HZ: Readonly<Record<AudioQuality, number | null>> = { low: 4_000, medium: 7_000, high: null };

/** What a cut takes to fade, and a step to be smoothed: 10 ms. */
const FADE_SAMPLES = 240;
/** A smaller step is no click: 40 dB below full scale. */
const MAX_STEP = 0.01;

/**
 * Makes an utterance's frames of what a model speaks, part by part: without clicks where a part begins or ends, in the
 * bandwidth that was asked for, within [-1, 1], and no more than may be. The last frame that may be is kept back until
 * it is known whether it is the last of the speech.
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

  /** Frames that there is still room for. */
  get framesLeft(): number {
    return this.#max - this.#count;
  }

  /** Whether anything was added. */
  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Whether more was added than there was room for. */
  get isFull(): boolean {
    return this.#isOver;
  }

  /** What is added next was not computed together with what came before. */
  beginSegment(): void {
    this.#isNewSegment = true;
  }

  /** Adds 1920 samples, which stay as they are. @returns what may go out */
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

  /** Adds silence while there is room: none where there are to be fewer than one frame of it. */
  *pause(frames: number): Generator<Frame, void, void> {
    this.beginSegment();
    const silence = new Float32Array(FRAME_SAMPLES);
    for (let left = Math.min(frames, this.framesLeft); left > 0; left--) yield* this.add(silence);
    this.beginSegment();
  }

  /** The rest of speech that is at its end: without a click, if it stopped in the middle of a wave. */
  end(): Frame[] {
    const isStep = Math.abs(this.#last) > MAX_STEP;
    if (isStep && this.#heldFrame !== null) fade(this.#heldFrame);
    if (this.#heldFrame !== null) return [{ samples: this.#heldFrame }];
    if (!isStep) return [];
    this.beginSegment();
    return [{ samples: this.#process(new Float32Array(FADE_SAMPLES)) }];
  }

  /** The rest of speech that is cut short. */
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

/** Begins where something else ended, a step away, and comes to its own over 10 ms. */
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
