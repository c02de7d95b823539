import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { HOP_SAMPLES, VOICED_ABOVE_HZ } from "../prosody/frames.ts";
import { mixed } from "../prosody/random.ts";
import { WINDOW_SAMPLES } from "../prosody/spectral-frame.ts";
import { SPECTRUM_VALUES } from "./geometry.ts";
import type { Kernel } from "./kernel/kernel.ts";

/** What is done to a frame's spectrum on its way into the kernel. */
export interface Colouring {
  /** Writes `kernel.spectrum`, `gain`, `turn` and `shake` for one frame; called for each frame in order. */
  apply(kernel: Kernel, frame: number, spectra: Float32Array, offset: number): void;
}

/** The spectrum as it was decoded. */
export const PLAIN: Colouring = {
  apply(kernel, _frame, spectra, offset) {
    kernel.spectrum.set(spectra.subarray(offset, offset + SPECTRUM_VALUES));
    kernel.gain.fill(0);
    kernel.turn.fill(0);
    kernel.shake[0] = 0;
  },
};

export interface WaveformOptions {
  /** Pitch of every frame of the sentence, hertz. */
  readonly pitchHz: Float32Array;
  /** The first frame that will be added. */
  readonly from: number;
  /** 32 bits. */
  readonly noiseSeed: number;
  /** How many spectral bins to fill, 1 to 601. */
  readonly bins: number;
  readonly colouring: Colouring;
}

/** The pulse train's phase runs on at 40 Hz while there are no pulses; the network was trained with that. */
const UNVOICED_TURNS = (VOICED_ABOVE_HZ * HOP_SAMPLES) / SAMPLE_RATE_HZ;

/**
 * Spectral frames in, samples out: pulses through the decoded filter, noise and the free part, overlapped and added.
 * Frame n is centred on the start of hop n and reaches from hop n − 2 to hop n + 1.
 */
export class Waveform {
  readonly #kernel: Kernel;
  readonly #options: WaveformOptions;
  /** Pulse train of the four hops under the next frame's window. */
  readonly #pulses = new Float32Array(WINDOW_SAMPLES);
  readonly #isVoiced = [false, false, false, false];
  /** What the frames so far have left of the hops to come. */
  readonly #overlap = new Float32Array(WINDOW_SAMPLES);
  #frame: number;
  #phase = 0;

  constructor(kernel: Kernel, options: WaveformOptions) {
    this.#kernel = kernel;
    this.#options = options;
    this.#frame = options.from;
    this.#phase = (Math.max(0, this.#frame - 2) * UNVOICED_TURNS) % 1;
    for (let hop = this.#frame - 2; hop <= this.#frame; hop++) this.#pulseHop(hop);
  }

  /**
   * Adds the next frame, described by 3005 values from `offset` on, and writes the hop that it completes to `out`:
   * the one two before the frame's own.
   */
  add(spectra: Float32Array, offset: number, out: Float32Array): void {
    const kernel = this.#kernel;
    const { noiseSeed, bins, colouring } = this.#options;
    const frame = this.#frame++;
    this.#pulseHop(frame + 1);
    const isVoiced = this.#isVoiced.includes(true);
    if (isVoiced) kernel.pulses.set(this.#pulses);
    colouring.apply(kernel, frame, spectra, offset);
    kernel.overlap.set(this.#overlap);
    kernel.frame(isVoiced ? 1 : 0, mixed(noiseSeed, frame), bins);
    out.set(kernel.samples.subarray(0, HOP_SAMPLES));
    this.#overlap.set(kernel.samples.subarray(HOP_SAMPLES));
  }

  /** Writes the next hop to `out` as it stands, when no more frames come. */
  drain(out: Float32Array): void {
    const overlap = this.#overlap;
    out.set(overlap.subarray(0, HOP_SAMPLES));
    overlap.copyWithin(0, HOP_SAMPLES);
  }

  #pulseHop(hop: number): void {
    const { pitchHz } = this.#options;
    const pitch = (index: number) => pitchHz[Math.max(0, Math.min(pitchHz.length - 1, index))]!;
    const [previous, current, next] = [pitch(hop - 1), pitch(hop), pitch(hop + 1)];
    const isInside = hop >= 0 && hop < pitchHz.length;
    const isVoiced = isInside && Math.max(previous, current, next) > VOICED_ABOVE_HZ;
    const pulses = this.#pulses;
    pulses.copyWithin(0, HOP_SAMPLES);
    this.#isVoiced.shift();
    this.#isVoiced.push(isVoiced);
    if (isVoiced) {
      this.#phase = this.#kernel.hop(previous, current, next, this.#phase);
      pulses.set(this.#kernel.hopSamples, WINDOW_SAMPLES - HOP_SAMPLES);
    } else {
      pulses.fill(0, WINDOW_SAMPLES - HOP_SAMPLES);
      if (isInside) this.#phase = (this.#phase + UNVOICED_TURNS) % 1;
    }
  }
}
