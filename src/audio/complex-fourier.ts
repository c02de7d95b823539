import { BUTTERFLY, type Pass } from "./butterflies.ts";

/** The discrete Fourier transform of complex numbers, for sizes that have no other factors than 2, 3 and 5. */
export class ComplexFourier {
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
