import { BINS, HOP_SAMPLES, WINDOW_SAMPLES } from "../../prosody/frames.ts";

/**
 * Addresses in the kernel's memory. Regions hold float32 and start at multiples of 16 bytes, with four spare values
 * after each for the last vector of a loop.
 */
export class Layout {
  #end = 0;

  /** Reserves `count` float32 values. @returns their address in bytes */
  reserve(count: number): number {
    const address = this.#end;
    this.#end += 16 * Math.ceil((count + 4) / 4);
    return address;
  }

  /** Memory in WebAssembly pages of 64 KiB. */
  get pages(): number {
    return Math.ceil(this.#end / 65_536);
  }
}

/** Bands whose loudness can be moved: 4.6 per octave above some 400 Hz, the last for all from 3.4 kHz on. */
export const BANDS = 16;

export interface ComplexRegion {
  readonly re: number;
  readonly im: number;
}

export function reserveComplex(layout: Layout, count: number): ComplexRegion {
  return { re: layout.reserve(count), im: layout.reserve(count) };
}

export type KernelMemory = ReturnType<typeof reserveKernelMemory>;

/** Reserves the kernel's inputs and outputs. */
export function reserveKernelMemory(layout: Layout) {
  return {
    /** One frame of the decoder's output, [3005] in the order of `SPECTRUM_PART`. */
    spectrum: layout.reserve(SPECTRUM_VALUES),
    /** Log gain added to every bin. */
    gain: layout.reserve(BINS),
    /** Angle in radians added to the free part's phase. */
    turn: layout.reserve(BINS),
    /** Standard deviation in radians of random phase. */
    shake: layout.reserve(1),
    /** Log gain of bands, which `addBands` adds to that of the bins. */
    bands: layout.reserve(BANDS),
    /** Pulse train under the window. */
    pulses: layout.reserve(WINDOW_SAMPLES),
    /** The next hop of the pulse train. */
    hop: layout.reserve(HOP_SAMPLES),
    /** Overlap of earlier frames under the window. */
    overlap: layout.reserve(WINDOW_SAMPLES),
    /** The overlap with the frame's samples added. */
    samples: layout.reserve(WINDOW_SAMPLES),
  };
}

/** Frames that the decoder sees on either side: nine convolutions of width 7 (voices/heart/split/README.md). */
export const CONTEXT_FRAMES = 27;

/**
 * The five parts of each frame of the decoder's output, each of {@link BINS} values, in this order: log magnitude and
 * phase (as an argument of tanh) of the filter on the pulse train; log magnitude of the noise; log magnitude and
 * phase of the free part, which carries unvoiced sound (hibari-tts 0.2.1, dsp.py).
 */
export const SPECTRUM_PART = {
  pulseGain: 0,
  pulsePhase: BINS,
  noiseGain: 2 * BINS,
  freeGain: 3 * BINS,
  freePhase: 4 * BINS,
};

export const SPECTRUM_VALUES = 5 * BINS;
