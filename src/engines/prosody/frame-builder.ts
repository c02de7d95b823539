import { FRAME_SAMPLES, type Samples, wholeSamples } from "../../audio/format.ts";
import type { Frame } from "../../core/speech-model.ts";

/** Cuts an utterance's samples and silences into frames of 80 ms. */
export class FrameBuilder {
  readonly #gain: number;
  samples = new Float32Array(FRAME_SAMPLES);
  #filled: Samples = NONE;

  /** @param gain factor on every sample */
  constructor(gain = 1) {
    this.#gain = gain;
  }

  /** Samples of the frame that are settled. */
  get filled(): Samples {
    return this.#filled;
  }

  get isEmpty(): boolean {
    return this.#filled === 0;
  }

  get isFull(): boolean {
    return this.#filled === FRAME_SAMPLES;
  }

  /** Settles what has been written to {@link samples} behind what was settled before. */
  settle(samples: Samples): void {
    this.#filled = wholeSamples(this.#filled + samples);
  }

  /** Adds silence while there is room. @returns how much is left over. */
  addSilence(samples: Samples): Samples {
    const count = wholeSamples(Math.min(samples, FRAME_SAMPLES - this.#filled));
    this.settle(count);
    return wholeSamples(samples - count);
  }

  /** Fades the last 5 ms out, so that a cut is not a click. */
  fadeEnd(): void {
    for (let i = 0; i < FADE_SAMPLES; i++) this.samples[this.#filled - 1 - i]! *= i / FADE_SAMPLES;
  }

  /** The frame as far as it is filled, held to [-1, 1]; the next one begins empty. */
  take(): Frame {
    const { samples } = this;
    const filled = this.#filled;
    for (let i = 0; i < filled; i++) samples[i] = limited(this.#gain * samples[i]!);
    this.samples = new Float32Array(FRAME_SAMPLES);
    this.#filled = NONE;
    return { samples: filled === FRAME_SAMPLES ? samples : samples.slice(0, filled) };
  }
}

const NONE = wholeSamples(0);
const FADE_SAMPLES = 120;

/** Leaves what is under 0.8 alone and bends what is above, so that a rare peak is not cut flat. */
function limited(sample: number): number {
  const beyond = Math.abs(sample) - KNEE;
  if (beyond <= 0) return sample;
  return Math.sign(sample) * (KNEE + (1 - KNEE) * Math.tanh(beyond / (1 - KNEE)));
}

const KNEE = 0.8;
