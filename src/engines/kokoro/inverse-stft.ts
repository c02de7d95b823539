import { CHANNELS } from "./graphs/cuts.ts";

/** Samples from one column of a spectrum to the next, and samples under each. */
const HOP = 5;
const WINDOW = 20;

/** What the published graph multiplies the sum by: windows that overlap. */
const SCALE = WINDOW / HOP;

/** The samples in front of the first column's middle. */
const CENTRE = WINDOW / 2;

/**
 * The inverse short-time Fourier transform at the end of Kokoro's decoder (20 points, every 5 samples), column after
 * column. The published graph has it as a transposed convolution; outside of it the graph needs no state for it. (It also
 * divides the first 10 samples of a sentence by the sum of the windows, for no more than these: that is left out.)
 */
export class InverseStft {
  readonly #basis: Float32Array;
  /** What columns that were given have left for samples that are not complete. */
  readonly #rest = new Float64Array(WINDOW);
  #skipped = 0;

  /** @param basis [22, 1, 20]: what each channel of a column gives */
  constructor(basis: Float32Array) {
    this.#basis = basis;
  }

  /**
   * Adds columns, [22, columns]: 5 samples for each.
   *
   * @param isLast whether no more come: then there are as many samples as the decoder has, all of them complete
   */
  add(spectrum: Float32Array, isLast: boolean): Float32Array {
    const columns = spectrum.length / CHANNELS.spectrum;
    const rest = this.#rest;
    const out = new Float32Array(HOP * columns + (isLast ? HOP : 0));
    for (let column = 0; column < columns; column++) {
      for (let channel = 0; channel < CHANNELS.spectrum; channel++) {
        const value = SCALE * spectrum[channel * columns + column]!;
        for (let at = 0, from = channel * WINDOW; at < WINDOW; at++)
          rest[at]! += value * this.#basis[from + at]!;
      }
      this.#give(out, HOP * column);
    }
    if (isLast) this.#give(out, HOP * columns);
    const skip = Math.min(CENTRE - this.#skipped, out.length);
    this.#skipped += skip;
    return out.subarray(skip);
  }

  #give(out: Float32Array, at: number): void {
    for (let i = 0; i < HOP; i++) out[at + i] = this.#rest[i]!;
    this.#rest.copyWithin(0, HOP);
    this.#rest.fill(0, WINDOW - HOP);
  }
}
