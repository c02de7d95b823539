/**
 * Discrete Fourier transform of real numbers, through a complex one of half the size (Cooley, Lewis and Welch, "The
 * fast Fourier transform algorithm: programming considerations", 1970). An instance holds tables and working space:
 * reuse it.
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

  /** @throws RangeError if the size is odd, less than 2, or has prime factors other than 2, 3 and 5 */
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

  /**
   * Computes X_k = Σ x[n]·exp(−2πi·k·n / size) for k = 0..size/2, from `size` values into two arrays of `bins`
   * values.
   */
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

  /** Inverts `forward`, with the factor 1 / size: two arrays of `bins` values into `size` values. */
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

  /** Computes |X_k|² for k = 0..size/2, from `size` values into `bins` values. */
  powers(input: Float32Array | Float64Array, output: Float32Array | Float64Array): void {
    const re = this.#re;
    const im = this.#im;
    this.forward(input, re, im);
    for (let k = 0; k < re.length; k++) output[k] = re[k]! * re[k]! + im[k]! * im[k]!;
  }
}

/** Discrete Fourier transform of complex numbers, for sizes without prime factors other than 2, 3 and 5. */
class ComplexFourier {
  readonly size: number;
  readonly #passes: readonly Pass[];
  readonly #re: Float64Array;
  readonly #im: Float64Array;

  /** @throws RangeError if the size has other factors */
  constructor(size: number) {
    this.size = size;
    this.#passes = passesFor(size);
    this.#re = new Float64Array(size);
    this.#im = new Float64Array(size);
  }

  /** Transforms in place, unscaled: value k becomes Σ x[n]·exp(−2πi·k·n / size). Both arrays have `size` values. */
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

  /** Transforms in place with exp(+2πi·k·n / size), unscaled: after `forward` it gives `size` times the input. */
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

/** In order of preference: one pass of four is cheaper than two of two. */
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

/**
 * One pass of a Stockham transform (Cochran et al., "What is the fast Fourier transform?", 1967): splits each of
 * `stride` interleaved transforms of radix · groups points into radix ones of `groups` points, and leaves all in
 * order.
 */
interface Pass {
  readonly radix: 2 | 3 | 4 | 5;
  readonly groups: number;
  /** Number of transforms that are interleaved before the pass. */
  readonly stride: number;
  /** cos(2π·p·j / (radix · groups)) at p · (radix − 1) + j − 1, for p < groups and 0 < j < radix. */
  readonly cosines: Float64Array;
  /** −sin of the same angles. */
  readonly sines: Float64Array;
}

/** Reads (xr, xi) and writes (yr, yi), each of radix · groups · stride values. */
type Butterfly = (pass: Pass, xr: Float64Array, xi: Float64Array, yr: Float64Array, yi: Float64Array) => void;

const BUTTERFLY: Readonly<Record<Pass["radix"], Butterfly>> = { 2: two, 3: three, 4: four, 5: five };

function two(pass: Pass, xr: Float64Array, xi: Float64Array, yr: Float64Array, yi: Float64Array): void {
  const { groups, stride, cosines, sines } = pass;
  const apart = groups * stride;
  for (let p = 0; p < groups; p++) {
    const c = cosines[p]!;
    const s = sines[p]!;
    for (let q = 0; q < stride; q++) {
      const from = p * stride + q;
      const to = 2 * p * stride + q;
      const r = xr[from]! - xr[from + apart]!;
      const i = xi[from]! - xi[from + apart]!;
      yr[to] = xr[from]! + xr[from + apart]!;
      yi[to] = xi[from]! + xi[from + apart]!;
      yr[to + stride] = r * c - i * s;
      yi[to + stride] = r * s + i * c;
    }
  }
}

const SIN_60 = Math.sqrt(3) / 2;

function three(pass: Pass, xr: Float64Array, xi: Float64Array, yr: Float64Array, yi: Float64Array): void {
  const { groups, stride, cosines, sines } = pass;
  const apart = groups * stride;
  for (let p = 0; p < groups; p++) {
    const c1 = cosines[2 * p]!;
    const c2 = cosines[2 * p + 1]!;
    const s1 = sines[2 * p]!;
    const s2 = sines[2 * p + 1]!;
    for (let q = 0; q < stride; q++) {
      const from = p * stride + q;
      const to = 3 * p * stride + q;
      const sumR = xr[from + apart]! + xr[from + 2 * apart]!;
      const sumI = xi[from + apart]! + xi[from + 2 * apart]!;
      const turnR = SIN_60 * (xi[from + apart]! - xi[from + 2 * apart]!);
      const turnI = SIN_60 * (xr[from + 2 * apart]! - xr[from + apart]!);
      const midR = xr[from]! - sumR / 2;
      const midI = xi[from]! - sumI / 2;
      yr[to] = xr[from]! + sumR;
      yi[to] = xi[from]! + sumI;
      yr[to + stride] = (midR + turnR) * c1 - (midI + turnI) * s1;
      yi[to + stride] = (midR + turnR) * s1 + (midI + turnI) * c1;
      yr[to + 2 * stride] = (midR - turnR) * c2 - (midI - turnI) * s2;
      yi[to + 2 * stride] = (midR - turnR) * s2 + (midI - turnI) * c2;
    }
  }
}

function four(pass: Pass, xr: Float64Array, xi: Float64Array, yr: Float64Array, yi: Float64Array): void {
  const { groups, stride, cosines, sines } = pass;
  const apart = groups * stride;
  for (let p = 0; p < groups; p++) {
    const c1 = cosines[3 * p]!;
    const c2 = cosines[3 * p + 1]!;
    const c3 = cosines[3 * p + 2]!;
    const s1 = sines[3 * p]!;
    const s2 = sines[3 * p + 1]!;
    const s3 = sines[3 * p + 2]!;
    for (let q = 0; q < stride; q++) {
      const from = p * stride + q;
      const to = 4 * p * stride + q;
      const evenSumR = xr[from]! + xr[from + 2 * apart]!;
      const evenSumI = xi[from]! + xi[from + 2 * apart]!;
      const evenR = xr[from]! - xr[from + 2 * apart]!;
      const evenI = xi[from]! - xi[from + 2 * apart]!;
      const oddSumR = xr[from + apart]! + xr[from + 3 * apart]!;
      const oddSumI = xi[from + apart]! + xi[from + 3 * apart]!;
      const oddR = xr[from + apart]! - xr[from + 3 * apart]!;
      const oddI = xi[from + apart]! - xi[from + 3 * apart]!;
      yr[to] = evenSumR + oddSumR;
      yi[to] = evenSumI + oddSumI;
      yr[to + stride] = (evenR + oddI) * c1 - (evenI - oddR) * s1;
      yi[to + stride] = (evenR + oddI) * s1 + (evenI - oddR) * c1;
      yr[to + 2 * stride] = (evenSumR - oddSumR) * c2 - (evenSumI - oddSumI) * s2;
      yi[to + 2 * stride] = (evenSumR - oddSumR) * s2 + (evenSumI - oddSumI) * c2;
      yr[to + 3 * stride] = (evenR - oddI) * c3 - (evenI + oddR) * s3;
      yi[to + 3 * stride] = (evenR - oddI) * s3 + (evenI + oddR) * c3;
    }
  }
}

const COS_72 = Math.cos((2 * Math.PI) / 5);
const COS_144 = Math.cos((4 * Math.PI) / 5);
const SIN_72 = Math.sin((2 * Math.PI) / 5);
const SIN_144 = Math.sin((4 * Math.PI) / 5);

function five(pass: Pass, xr: Float64Array, xi: Float64Array, yr: Float64Array, yi: Float64Array): void {
  const { groups, stride, cosines, sines } = pass;
  const apart = groups * stride;
  for (let p = 0; p < groups; p++) {
    const c1 = cosines[4 * p]!;
    const c2 = cosines[4 * p + 1]!;
    const c3 = cosines[4 * p + 2]!;
    const c4 = cosines[4 * p + 3]!;
    const s1 = sines[4 * p]!;
    const s2 = sines[4 * p + 1]!;
    const s3 = sines[4 * p + 2]!;
    const s4 = sines[4 * p + 3]!;
    for (let q = 0; q < stride; q++) {
      const from = p * stride + q;
      const to = 5 * p * stride + q;
      const r0 = xr[from]!;
      const i0 = xi[from]!;
      const outerR = xr[from + apart]! + xr[from + 4 * apart]!;
      const outerI = xi[from + apart]! + xi[from + 4 * apart]!;
      const innerR = xr[from + 2 * apart]! + xr[from + 3 * apart]!;
      const innerI = xi[from + 2 * apart]! + xi[from + 3 * apart]!;
      const outerDropR = xr[from + apart]! - xr[from + 4 * apart]!;
      const outerDropI = xi[from + apart]! - xi[from + 4 * apart]!;
      const innerDropR = xr[from + 2 * apart]! - xr[from + 3 * apart]!;
      const innerDropI = xi[from + 2 * apart]! - xi[from + 3 * apart]!;
      const nearR = r0 + COS_72 * outerR + COS_144 * innerR;
      const nearI = i0 + COS_72 * outerI + COS_144 * innerI;
      const farR = r0 + COS_144 * outerR + COS_72 * innerR;
      const farI = i0 + COS_144 * outerI + COS_72 * innerI;
      const nearTurnR = SIN_72 * outerDropI + SIN_144 * innerDropI;
      const nearTurnI = -SIN_72 * outerDropR - SIN_144 * innerDropR;
      const farTurnR = SIN_144 * outerDropI - SIN_72 * innerDropI;
      const farTurnI = -SIN_144 * outerDropR + SIN_72 * innerDropR;
      yr[to] = r0 + outerR + innerR;
      yi[to] = i0 + outerI + innerI;
      yr[to + stride] = (nearR + nearTurnR) * c1 - (nearI + nearTurnI) * s1;
      yi[to + stride] = (nearR + nearTurnR) * s1 + (nearI + nearTurnI) * c1;
      yr[to + 2 * stride] = (farR + farTurnR) * c2 - (farI + farTurnI) * s2;
      yi[to + 2 * stride] = (farR + farTurnR) * s2 + (farI + farTurnI) * c2;
      yr[to + 3 * stride] = (farR - farTurnR) * c3 - (farI - farTurnI) * s3;
      yi[to + 3 * stride] = (farR - farTurnR) * s3 + (farI - farTurnI) * c3;
      yr[to + 4 * stride] = (nearR - nearTurnR) * c4 - (nearI - nearTurnI) * s4;
      yi[to + 4 * stride] = (nearR - nearTurnR) * s4 + (nearI - nearTurnI) * c4;
    }
  }
}
