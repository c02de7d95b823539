import { FRAME_SAMPLES, SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import type { AudioQuality } from "../../../model/script.ts";
import type { Frame } from "../../../model/speech-model.ts";

/** Bandwidth: 4 kHz, 7 kHz, and all that the codec has, as the embedded voice does. */
const CUTOFFS_HZ: Readonly<Record<AudioQuality, number | null>> = { low: 4_000, medium: 7_000, high: null };

/** What a cut takes to fade, and a step to be smoothed: 10 ms. */
const FADE_SAMPLES = 240;
/** A smaller step is no click: 40 dB below full scale. */
const STEP = 0.01;

/**
 * Makes an utterance's frames of what a model speaks, part by part: without clicks where a part begins or ends, in the
 * bandwidth that was asked for, within [-1, 1], and no more than may be. The last frame that may be is kept back until
 * it is known whether it is the last of the speech.
 */
export class FramePostProcessor {
  readonly #max: number;
  readonly #filter: LowPass | null;
  #last = 0;
  #isNewPart = true;
  #count = 0;
  #kept: Float32Array | null = null;
  #isOver = false;

  constructor(max: number, quality: AudioQuality) {
    const cutoffHz = CUTOFFS_HZ[quality];
    this.#max = max;
    this.#filter = cutoffHz === null ? null : new LowPass(cutoffHz);
  }

  /** Frames that there is still room for. */
  get left(): number {
    return this.#max - this.#count;
  }

  /** Whether anything was added. */
  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Whether more was added than there was room for. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** What is added next was not computed together with what came before. */
  beginPart(): void {
    this.#isNewPart = true;
  }

  /** Adds 1920 samples, which stay as they are. @returns what may go out */
  add(samples: Float32Array): Frame[] {
    if (this.left === 0) {
      this.#isOver = true;
      return [];
    }
    const made = this.#made(samples);
    this.#count += 1;
    if (this.left > 0) return [{ samples: made }];
    this.#kept = made;
    return [];
  }

  /** Adds silence. */
  pause(frames: number): Frame[] {
    this.beginPart();
    const silence = new Float32Array(FRAME_SAMPLES);
    const made = Array.from({ length: frames }, () => this.add(silence)).flat();
    this.beginPart();
    return made;
  }

  /** The rest of speech that is at its end: without a click, if it stopped in the middle of a wave. */
  end(): Frame[] {
    const isStep = Math.abs(this.#last) > STEP;
    if (isStep && this.#kept !== null) fade(this.#kept);
    if (this.#kept !== null) return [{ samples: this.#kept }];
    if (!isStep) return [];
    this.beginPart();
    return [{ samples: this.#made(new Float32Array(FADE_SAMPLES)) }];
  }

  /** The rest of speech that is cut short. */
  cut(): Frame[] {
    if (this.#kept === null) return [];
    fade(this.#kept);
    return [{ samples: this.#kept }];
  }

  #made(samples: Float32Array): Float32Array {
    const made = samples.slice();
    if (this.#isNewPart) smooth(made, this.#last - made[0]!);
    this.#isNewPart = false;
    this.#last = made.at(-1)!;
    this.#filter?.apply(made);
    for (let at = 0; at < made.length; at++) made[at] = Math.max(-1, Math.min(1, made[at]!));
    return made;
  }
}

/**
 * Takes out what lies above a frequency, as a telephone does, and holds nothing back (Butterworth of the eighth order by the
 * bilinear transform; Oppenheim & Schafer, "Discrete-Time Signal Processing", 7.2). At 1.3 times the frequency it is 20 dB
 * down. What it gives goes on from piece to piece.
 */
class LowPass {
  readonly #sections: readonly Section[];

  /** @param cutoffHz where it is 3 dB down; below 12 kHz */
  constructor(cutoffHz: number) {
    const warped = Math.tan((Math.PI * cutoffHz) / SAMPLE_RATE_HZ);
    this.#sections = Array.from({ length: ORDER / 2 }, (_, at) => {
      const damping = 2 * Math.sin((Math.PI * (2 * at + 1)) / (2 * ORDER));
      const scale = 1 / (1 + damping * warped + warped ** 2);
      return {
        gain: warped ** 2 * scale,
        feedback: [2 * (warped ** 2 - 1) * scale, (1 - damping * warped + warped ** 2) * scale] as const,
        memory: new Float64Array(4),
      };
    });
  }

  /** Filters the samples where they are. */
  apply(samples: Float32Array): void {
    for (const { gain, feedback, memory } of this.#sections) {
      let x1 = memory[0]!;
      let x2 = memory[1]!;
      let y1 = memory[2]!;
      let y2 = memory[3]!;
      for (let at = 0; at < samples.length; at++) {
        const x = samples[at]!;
        const y = gain * (x + 2 * x1 + x2) - feedback[0] * y1 - feedback[1] * y2;
        x2 = x1;
        x1 = x;
        y2 = y1;
        y1 = y;
        samples[at] = y;
      }
      memory.set([x1, x2, y1, y2]);
    }
  }
}

/** Begins where something else ended, a step away, and comes to its own over 10 ms. */
function smooth(samples: Float32Array, step: number): void {
  if (Math.abs(step) <= STEP) return;
  for (let at = 0; at < FADE_SAMPLES; at++) {
    samples[at]! += (step * (1 + Math.cos((Math.PI * at) / (FADE_SAMPLES - 1)))) / 2;
  }
}

function fade(samples: Float32Array): void {
  const from = samples.length - FADE_SAMPLES;
  for (let at = 0; at < FADE_SAMPLES; at++) samples[from + at]! *= 1 - (at + 1) / FADE_SAMPLES;
}

/** Half as many filters of the second order. */
const ORDER = 8;

interface Section {
  readonly gain: number;
  /** Of the output one and two samples ago. */
  readonly feedback: readonly [number, number];
  /** Input and output one and two samples ago. */
  readonly memory: Float64Array;
}
