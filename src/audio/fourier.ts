import { BUTTERFLY, type Pass } from "./butterflies.ts";

/**
 * The discrete Fourier transform of real numbers, through a complex one of half the size (Cooley, Lewis and Welch,
 * "The fast Fourier transform algorithm: programming considerations", 1970). An instance keeps its tables and its
 * working space, so make it once and use it often.
 */
export class RealFourier {
  readonly size: number;
  /** Values of a spectrum: size / 2 + 1. */
  readonly bins: number;
  readonly #half: ComplexFourier;
  readonly #cosines: Float64Array;
  readonly #sines: Float64Array;
  readonly #evens: Float64Array;
  readonly #odds: Float64Array;
  readonly #re: Float64Array;
  readonly #im: Float64Array;

  /** @throws RangeError if the size is odd, less than 2, or has other factors than 2, 3 and 5. */
  constructor(size: number) {
    if (!(size >= 2 && size % 2 === 0)) throw new RangeError(`a real transform of ${size} points`);
    const half = size / 2;
    this.size = size;
    this.bins = half + 1;
    this.#half = new ComplexFourier(half);
    this.#cosines = Float64Array.from({ length: half + 1 }, (_, k) => Math.cos((2 * Math.PI * k) / size));
    this.#sines = Float64Array.from({ length: half + 1 }, (_, k) => Math.sin((2 * Math.PI * k) / size));
    this.#evens = new Float64Array(half);
    this.#odds = new Float64Array(half);
    this.#re = new Float64Array(half + 1);
    this.#im = new Float64Array(half + 1);
  }

  /** X_k = Σ x[n]·exp(−2πi·k·n / size) for k = 0..size/2, from `size` values into two arrays of `bins` values. */
  forward(input: Float32Array | Float64Array, re: Float64Array, im: Float64Array): void {
    const half = this.bins - 1;
    const evens = this.#evens;
    const odds = this.#odds;
    for (let n = 0; n < half; n++) {
      evens[n] = input[2 * n]!;
      odds[n] = input[2 * n + 1]!;
    }
    this.#half.forward(evens, odds);
    re[0] = evens[0]! + odds[0]!;
    im[0] = 0;
    re[half] = evens[0]! - odds[0]!;
    im[half] = 0;
    for (let k = 1; k < half; k++) {
      const mirror = half - k;
      const evenR = (evens[k]! + evens[mirror]!) / 2;
      const evenI = (odds[k]! - odds[mirror]!) / 2;
      const oddR = (odds[k]! + odds[mirror]!) / 2;
      const oddI = (evens[mirror]! - evens[k]!) / 2;
      const c = this.#cosines[k]!;
      const s = this.#sines[k]!;
      re[k] = evenR + oddR * c + oddI * s;
      im[k] = evenI + oddI * c - oddR * s;
    }
  }

  /** Undoes `forward`, with the factor 1 / size: two arrays of `bins` values into `size` values. */
  inverse(re: Float64Array, im: Float64Array, output: Float32Array | Float64Array): void {
    const half = this.bins - 1;
    const evens = this.#evens;
    const odds = this.#odds;
    for (let k = 0; k < half; k++) {
      const mirror = half - k;
      const evenR = re[k]! + re[mirror]!;
      const evenI = k === 0 ? 0 : im[k]! - im[mirror]!;
      const dropR = re[k]! - re[mirror]!;
      const dropI = k === 0 ? 0 : im[k]! + im[mirror]!;
      const c = this.#cosines[k]!;
      const s = this.#sines[k]!;
      evens[k] = (evenR - dropR * s - dropI * c) / this.size;
      odds[k] = (evenI + dropR * c - dropI * s) / this.size;
    }
    this.#half.backward(evens, odds);
    for (let n = 0; n < half; n++) {
      output[2 * n] = evens[n]!;
      output[2 * n + 1] = odds[n]!;
    }
  }

  /** |X_k|² for k = 0..size/2, from `size` values into `bins` values. */
  powers(input: Float32Array | Float64Array, output: Float32Array | Float64Array): void {
    const re = this.#re;
    const im = this.#im;
    this.forward(input, re, im);
    for (let k = 0; k < re.length; k++) output[k] = re[k]! * re[k]! + im[k]! * im[k]!;
  }
}

/** The discrete Fourier transform of complex numbers, for sizes that have no other factors than 2, 3 and 5. */
class ComplexFourier {
  readonly size: number;
  readonly #passes: readonly Pass[];
  readonly #re: Float64Array;
  readonly #im: Float64Array;

  /** @throws RangeError if the size has other factors. */
  constructor(size: number) {
    this.size = size;
    this.#passes = passesFor(size);
    this.#re = new Float64Array(size);
    this.#im = new Float64Array(size);
  }

  /** In place: value k becomes Σ x[n]·exp(−2πi·k·n / size), without a factor. Both arrays have `size` values. */
  forward(re: Float64Array, im: Float64Array): void {
    let [xr, xi, yr, yi] = [re, im, this.#re, this.#im];
    for (const pass of this.#passes) {
      BUTTERFLY[pass.radix](pass, xr, xi, yr, yi);
      [xr, xi, yr, yi] = [yr, yi, xr, xi];
    }
    if (xr === re) return;
    re.set(xr);
    im.set(xi);
  }

  /** In place, with exp(+2πi·k·n / size) and without a factor: after `forward` it gives `size` times the input. */
  backward(re: Float64Array, im: Float64Array): void {
    this.forward(im, re);
  }
}

function passesFor(size: number): Pass[] {
  const passes: Pass[] = [];
  let left = size;
  for (let stride = 1; left > 1; ) {
    const radix = RADICES.find((candidate) => left % candidate === 0);
    if (radix === undefined)
      throw new RangeError(`a transform of ${size} points has other factors than 2, 3, 5`);
    passes.push(createPass(radix, left / radix, stride));
    stride *= radix;
    left /= radix;
  }
  return passes;
}

/** In the order of preference: a pass of four is cheaper than two of two. */
const RADICES = [4, 5, 3, 2] as const;

function createPass(radix: Pass["radix"], groups: number, stride: number): Pass {
  const cosines = new Float64Array(groups * (radix - 1));
  const sines = new Float64Array(groups * (radix - 1));
  for (let p = 0; p < groups; p++) {
    for (let j = 1; j < radix; j++) {
      const angle = (2 * Math.PI * p * j) / (radix * groups);
      cosines[p * (radix - 1) + j - 1] = Math.cos(angle);
      sines[p * (radix - 1) + j - 1] = -Math.sin(angle);
    }
  }
  return { radix, groups, stride, cosines, sines };
}
