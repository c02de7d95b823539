import type { FunctionBody } from "../../../onnx/assemble-wasm.ts";
import { type Code, f32x4, i32x4, v128 } from "../../../onnx/wasm-instructions.ts";

/**
 * e^x, four at a time, x limited to [-80, 7]: relative error under 3e-6 (range reduction and series to x⁵; Cody and
 * Waite, "Software Manual for the Elementary Functions", 1980).
 */
export function exponential(body: FunctionBody, x: Code): Code {
  const limited = body.keep(f32x4.pmax(f32x4.pmin(x, f32x4.const(7)), f32x4.const(-80)));
  const { whole: power, bits } = nearestWhole(body, f32x4.mul(limited, f32x4.const(Math.LOG2E)));
  // ln 2 in two parts, the first short enough that its product with a power is exact.
  const high = f32x4.sub(limited, f32x4.mul(power, f32x4.const(LN2_HIGH)));
  const rest = body.keep(f32x4.sub(high, f32x4.mul(power, f32x4.const(Math.LN2 - LN2_HIGH))));
  const series = polynomial(body, rest, [1, 1, 1 / 2, 1 / 6, 1 / 24, 1 / 120]);
  return body.keep(i32x4.add(series, i32x4.shiftLeft(bits, 23)));
}

/** tanh x, four at a time; x limited to 7, where tanh is within 2e-6 of 1. */
export function hyperbolicTangent(body: FunctionBody, x: Code): Code {
  const root = exponential(body, x);
  const share = f32x4.div(f32x4.const(2), f32x4.add(f32x4.mul(root, root), f32x4.const(1)));
  return body.keep(f32x4.sub(f32x4.const(1), share));
}

/** Sine and cosine of an angle in turns, four at a time: absolute error under 4e-6. */
export function sineCosine(body: FunctionBody, turns: Code): { readonly sine: Code; readonly cosine: Code } {
  const { whole: quarter, bits: quadrant } = nearestWhole(body, f32x4.mul(turns, f32x4.const(4)));
  const rest = f32x4.sub(turns, f32x4.mul(quarter, f32x4.const(0.25)));
  const angle = body.keep(f32x4.mul(rest, f32x4.const(2 * Math.PI)));
  const square = body.keep(f32x4.mul(angle, angle));
  const sine = body.keep(f32x4.mul(angle, polynomial(body, square, [1, -1 / 6, 1 / 120, -1 / 5_040])));
  const cosine = body.keep(polynomial(body, square, [1, -1 / 2, 1 / 24, -1 / 720, 1 / 40_320]));
  const isOdd = body.keep(i32x4.shiftRight(i32x4.shiftLeft(quadrant, 31), 31));
  return {
    sine: body.keep(v128.xor(v128.select(cosine, sine, isOdd), signOf(quadrant))),
    cosine: body.keep(
      v128.xor(v128.select(sine, cosine, isOdd), signOf(i32x4.add(quadrant, i32x4.const(1, 1, 1, 1)))),
    ),
  };
}

/**
 * Rounds four numbers below 2²² in size, halves to even: adding 1.5 · 2²³ leaves no room for a fraction. The sum's
 * low bits are the integer.
 */
function nearestWhole(body: FunctionBody, x: Code): { readonly whole: Code; readonly bits: Code } {
  const bits = body.keep(f32x4.add(x, f32x4.const(NO_FRACTION)));
  return { bits, whole: body.keep(f32x4.sub(bits, f32x4.const(NO_FRACTION))) };
}

function signOf(quadrant: Code): Code {
  return i32x4.shiftLeft(v128.and(quadrant, i32x4.const(2, 2, 2, 2)), 30);
}

/** Horner's rule, coefficients from the constant up. */
function polynomial(body: FunctionBody, x: Code, coefficients: readonly number[]): Code {
  const [last, ...others] = coefficients.map((value) => f32x4.const(value)).reverse();
  return others.reduce((sum, next) => body.keep(f32x4.add(f32x4.mul(sum, x), next)), last ?? []);
}

const LN2_HIGH = 0.693359375;
const NO_FRACTION = 1.5 * 2 ** 23;
