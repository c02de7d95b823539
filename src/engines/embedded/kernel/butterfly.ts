import type { FunctionBody } from "../../../onnx/assemble.ts";
import { type Code, f32x4 } from "../../../onnx/instructions.ts";

/** Four complex numbers at a time. */
export interface Complex {
  readonly re: Code;
  readonly im: Code;
}

/** Emits the Fourier transform of as many points as there are values: 2, 4, 6 or an odd number. */
export function butterfly(body: FunctionBody, values: readonly Complex[]): Complex[] {
  const keep = ({ re, im }: Complex): Complex => ({ re: body.keep(re), im: body.keep(im) });
  const sum = (a: Complex, b: Complex) => keep({ re: f32x4.add(a.re, b.re), im: f32x4.add(a.im, b.im) });
  const difference = (a: Complex, b: Complex) =>
    keep({ re: f32x4.sub(a.re, b.re), im: f32x4.sub(a.im, b.im) });
  const scaled = (a: Complex, by: number): Complex => ({
    re: f32x4.mul(a.re, f32x4.const(by)),
    im: f32x4.mul(a.im, f32x4.const(by)),
  });
  /** −i·a */
  const quarterBack = (a: Complex): Complex => ({ re: a.im, im: f32x4.negate(a.re) });

  if (values.length === 2) {
    const [a, b] = values as [Complex, Complex];
    return [sum(a, b), difference(a, b)];
  }
  if (values.length === 4) {
    const [a, b, c, d] = values as [Complex, Complex, Complex, Complex];
    const [evenSum, evenDifference] = [sum(a, c), difference(a, c)];
    const [oddSum, oddDifference] = [sum(b, d), keep(quarterBack(difference(b, d)))];
    return [
      sum(evenSum, oddSum),
      sum(evenDifference, oddDifference),
      difference(evenSum, oddSum),
      difference(evenDifference, oddDifference),
    ];
  }
  if (values.length === 6) {
    // Two threes and three twos without twiddles: 2 and 3 have no common factor (Good, 1958).
    const [a, b, c, d, e, f] = values as [Complex, Complex, Complex, Complex, Complex, Complex];
    const first = butterfly(body, [a, c, e]);
    const second = butterfly(body, [d, f, b]);
    const [x0, x3] = butterfly(body, [first[0]!, second[0]!]);
    const [x4, x1] = butterfly(body, [first[1]!, second[1]!]);
    const [x2, x5] = butterfly(body, [first[2]!, second[2]!]);
    return [x0!, x1!, x2!, x3!, x4!, x5!];
  }
  // An odd count: pairs from both ends, whose sums go by cosines and differences by sines.
  const [head, ...tail] = values as [Complex, ...Complex[]];
  const pairs = range(tail.length / 2).map((k) => {
    const [a, b] = [tail[k]!, tail[tail.length - 1 - k]!];
    return { sum: sum(a, b), difference: difference(a, b) };
  });
  const total = pairs.reduce((so, pair) => sum(so, pair.sum), head);
  const results: Complex[] = [total];
  for (let k = 1; k <= pairs.length; k++) {
    const angle = (j: number) => (2 * Math.PI * k * (j + 1)) / values.length;
    const real = pairs.reduce((so, pair, j) => sum(so, scaled(pair.sum, Math.cos(angle(j)))), head);
    const turned = pairs
      .map((pair, j) => scaled(pair.difference, Math.sin(angle(j))))
      .reduce((so, next) => sum(so, next));
    const back = keep(quarterBack(keep(turned)));
    results[k] = sum(real, back);
    results[values.length - k] = difference(real, back);
  }
  return results;
}

/** a · b */
export function product(body: FunctionBody, a: Complex, b: Complex): Complex {
  return {
    re: body.keep(f32x4.sub(f32x4.mul(a.re, b.re), f32x4.mul(a.im, b.im))),
    im: body.keep(f32x4.add(f32x4.mul(a.re, b.im), f32x4.mul(a.im, b.re))),
  };
}

/** 0, 1, … length − 1. */
export function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
