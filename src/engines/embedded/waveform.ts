import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { HOP_SAMPLES, VOICED_ABOVE_HZ, WINDOW_SAMPLES } from "../prosody/frames.ts";
import { hash32 } from "../prosody/random.ts";
import type { Kernel } from "./kernel/kernel.ts";
import type { SpectrumTransform } from "./spectral-envelope.ts";

export interface WaveformOptions {
  readonly pitchHz: Float32Array;
  readonly from: number;
  /** 32 bits. */
  readonly noiseSeed: number;
  /** Spectral bins to fill, 1 to 601. */
  readonly bins: number;
  readonly transform: SpectrumTransform;
}

/** Without pulses the phase advances as at 40 Hz; the network was trained with that. */
const UNVOICED_TURNS = (VOICED_ABOVE_HZ * HOP_SAMPLES) / SAMPLE_RATE_HZ;

/** Overlap-adds spectral frames. Frame n is centred on the start of hop n and spans hops n − 2 to n + 1. */
export class Waveform {
  readonly #kernel: Kernel;
  readonly #options: WaveformOptions;
  /** Pulse train of the four hops under the next frame's window. */
  readonly #pulses = new Float32Array(WINDOW_SAMPLES);
  readonly #isVoiced = [false, false, false, false];
  /** Partial sums of the hops to come. */
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

  /** Adds a frame, 3005 values from `offset` on, and writes the hop that it completes, two before its own. */
  add(spectra: Float32Array, offset: number, out: Float32Array): void {
    const kernel = this.#kernel;
    const { noiseSeed, bins, transform } = this.#options;
    const frame = this.#frame++;
    this.#pulseHop(frame + 1);
    const isVoiced = this.#isVoiced.includes(true);
    if (isVoiced) kernel.pulses.set(this.#pulses);
    transform.apply(kernel, frame, spectra, offset);
    kernel.overlap.set(this.#overlap);
    kernel.frame(isVoiced ? 1 : 0, hash32(noiseSeed, frame), bins);
    out.set(kernel.samples.subarray(0, HOP_SAMPLES));
    this.#overlap.set(kernel.samples.subarray(HOP_SAMPLES));
  }

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
