import { HOP_SAMPLES } from "../../prosody/frames.ts";
import { BINS, WINDOW_SAMPLES } from "../../prosody/spectral-frame.ts";
import { SPECTRUM_VALUES } from "../geometry.ts";

/**
 * Where things lie in the kernel's memory. Every region holds float32 and begins at a multiple of 16 bytes; four
 * spare values after each let the last vector of a loop run over.
 */
export class Layout {
  #end = 0;

  /** Reserves `count` float32 values and gives their address in bytes. */
  reserve(count: number): number {
    const address = this.#end;
    this.#end += 16 * Math.ceil((count + 4) / 4);
    return address;
  }

  /** Memory in WebAssembly's pages of 64 KiB. */
  get pages(): number {
    return Math.ceil(this.#end / 65_536);
  }
}

/** Bands whose loudness can be moved: 4.6 to the octave above some 400 Hz, the last for all from 3.4 kHz on. */
export const BANDS = 16;

/** A spectrum or signal of complex numbers: real and imaginary parts apart. */
export interface ComplexRegion {
  readonly re: number;
  readonly im: number;
}

export function reserveComplex(layout: Layout, count: number): ComplexRegion {
  return { re: layout.reserve(count), im: layout.reserve(count) };
}

/** What goes into and comes out of the kernel. */
export interface Exchange {
  /** One frame of the decoder's output, [3005] in the order of `PART`. */
  readonly spectrum: number;
  /** Log gain added to every bin, [601]. */
  readonly gain: number;
  /** Angle in radians added to the free part's phase, [601]. */
  readonly turn: number;
  /** Standard deviation in radians of what is added to it at random, [1]. */
  readonly shake: number;
  /** Log gain of sixteen bands, which `addBands` adds to that of the bins, [16]. */
  readonly bands: number;
  /** Pulse train under the window, [1200]. */
  readonly pulses: number;
  /** The next hop of the pulse train, [300]. */
  readonly hop: number;
  /** What the frames before left under the window, [1200]. */
  readonly overlap: number;
  /** The frame's samples added to it, [1200]. */
  readonly samples: number;
}

export function reserveExchange(layout: Layout): Exchange {
  return {
    spectrum: layout.reserve(SPECTRUM_VALUES),
    gain: layout.reserve(BINS),
    turn: layout.reserve(BINS),
    shake: layout.reserve(1),
    bands: layout.reserve(BANDS),
    pulses: layout.reserve(WINDOW_SAMPLES),
    hop: layout.reserve(HOP_SAMPLES),
    overlap: layout.reserve(WINDOW_SAMPLES),
    samples: layout.reserve(WINDOW_SAMPLES),
  };
}
