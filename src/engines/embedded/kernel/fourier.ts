import type { FunctionBody } from "../../../onnx/assemble-wasm.ts";
import { type Code, f32x4, i32, v128 } from "../../../onnx/wasm-instructions.ts";
import { type ComplexRegion, type Layout, reserveComplex } from "./layout.ts";

export interface Table {
  readonly address: number;
  readonly values: Float32Array;
}

export interface Transform {
  /** Overwritten by the transform. */
  readonly input: ComplexRegion;
  readonly output: ComplexRegion;
  emit(body: FunctionBody): void;
  readonly tables: readonly Table[];
}

/**
 * X[k] = Σ x[n] e^(−2πi·nk/points), four butterflies at a time. Stockham's self-sorting form: each pass reads one
 * region and writes the other, so nothing is reordered (Cochran et al., "What is the fast Fourier transform?", 1967).
 *
 * @param radices factors of `points`, each 2 to 6; the first is 4, and the product up to any later one a multiple of
 * 4
 */
export function createTransform(layout: Layout, points: number, radices: readonly number[]): Transform {
  const regions = [reserveComplex(layout, points), reserveComplex(layout, points)] as const;
  const passes: Pass[] = [];
  let done = 1;
  for (const radix of radices) {
    passes.push({ radix, done, groups: points / (radix * done), points });
    done *= radix;
  }
  if (done !== points || radices[0] !== 4)
    throw new Error(`${points} points cannot be split into ${radices}.`);
  const tables = passes.map((pass) => twiddles(layout, pass));
  const [input, other] = regions;
  return {
    input,
    output: passes.length % 2 === 0 ? input : other,
    tables: tables.flat(),
    emit(body) {
      passes.forEach((pass, index) => {
        const [from, to] = index % 2 === 0 ? [input, other] : [other, input];
        if (index === 0) emitFirstPass(body, pass, tables[0] ?? [], from, to);
        else emitPass(body, pass, tables[index] ?? [], from, to);
      });
    },
  };
}

/** One pass: `groups` butterflies for each of the `done` results of earlier passes. */
interface Pass {
  readonly radix: number;
  readonly done: number;
  readonly groups: number;
  readonly points: number;
}

const FLOAT_BYTES = 4;
const VECTOR_BYTES = 16;

/** e^(−2πi·j·t·done/points) for group j and leg t ≥ 1: tables of cosines and sines for each leg. */
function twiddles(layout: Layout, { radix, done, groups, points }: Pass): Table[] {
  const table = (leg: number, of: (angle: number) => number): Table => ({
    address: layout.reserve(groups),
    values: Float32Array.from({ length: groups }, (_, j) => of((-2 * Math.PI * j * leg * done) / points)),
  });
  const legs = Array.from({ length: radix - 1 }, (_, index) => index + 1);
  return legs.flatMap((leg) => [table(leg, Math.cos), table(leg, Math.sin)]);
}

/** The first pass has single results, so it takes four groups at a time and transposes. */
function emitFirstPass(
  body: FunctionBody,
  { radix, groups }: Pass,
  tables: readonly Table[],
  from: ComplexRegion,
  to: ComplexRegion,
): void {
  const four = (at: Code) => {
    const legs = range(radix).map((leg) => loadComplex(body, from, at, leg * groups * FLOAT_BYTES));
    const results = butterfly(body, legs).map((value, leg) => {
      if (leg === 0) return value;
      const twiddle = {
        re: body.keep(v128.load(at, tables[2 * leg - 2]!.address)),
        im: body.keep(v128.load(at, tables[2 * leg - 1]!.address)),
      };
      return product(body, value, twiddle);
    });
    const place = body.keep(i32.shiftLeft(at, i32.const(2)), "i32");
    for (const part of ["re", "im"] as const) {
      const rows = results.map((value) => value[part]);
      transposed(body, rows).forEach((row, index) => {
        body.emit(v128.store(place, row, to[part] + index * VECTOR_BYTES));
      });
    }
  };
  const whole = groups - (groups % 4);
  body.loop(0, i32.const(whole * FLOAT_BYTES), VECTOR_BYTES, four);
  if (whole < groups) four(body.keep(i32.const((groups - 4) * FLOAT_BYTES), "i32"));
}

function emitPass(
  body: FunctionBody,
  { radix, done, groups }: Pass,
  tables: readonly Table[],
  from: ComplexRegion,
  to: ComplexRegion,
): void {
  const width = done * FLOAT_BYTES;
  body.loop(0, i32.const(groups * FLOAT_BYTES), FLOAT_BYTES, (group) => {
    const legTwiddles = range(radix - 1).map((leg) => ({
      re: body.keep(v128.loadSplat(group, tables[2 * leg]!.address)),
      im: body.keep(v128.loadSplat(group, tables[2 * leg + 1]!.address)),
    }));
    const source = body.keep(i32.mul(group, i32.const(done)), "i32");
    const target = body.keep(i32.mul(group, i32.const(done * radix)), "i32");
    body.loop(0, i32.const(width), VECTOR_BYTES, (column) => {
      const readAt = body.keep(i32.add(source, column), "i32");
      const writeAt = body.keep(i32.add(target, column), "i32");
      const legs = range(radix).map((leg) => loadComplex(body, from, readAt, leg * groups * width));
      butterfly(body, legs).forEach((value, leg) => {
        const twiddle = legTwiddles[leg - 1];
        const { re, im } = twiddle === undefined || groups === 1 ? value : product(body, value, twiddle);
        body.emit(v128.store(writeAt, re, to.re + leg * width), v128.store(writeAt, im, to.im + leg * width));
      });
    });
  });
}

function transposed(body: FunctionBody, rows: readonly Code[]): Code[] {
  const [a, b, c, d] = rows as [Code, Code, Code, Code];
  const abLow = body.keep(v128.lanes(a, b, [0, 4, 1, 5]));
  const abHigh = body.keep(v128.lanes(a, b, [2, 6, 3, 7]));
  const cdLow = body.keep(v128.lanes(c, d, [0, 4, 1, 5]));
  const cdHigh = body.keep(v128.lanes(c, d, [2, 6, 3, 7]));
  return [
    v128.lanes(abLow, cdLow, [0, 1, 4, 5]),
    v128.lanes(abLow, cdLow, [2, 3, 6, 7]),
    v128.lanes(abHigh, cdHigh, [0, 1, 4, 5]),
    v128.lanes(abHigh, cdHigh, [2, 3, 6, 7]),
  ];
}

function loadComplex(body: FunctionBody, { re, im }: ComplexRegion, at: Code, offset: number): Complex {
  return { re: body.keep(v128.load(at, re + offset)), im: body.keep(v128.load(at, im + offset)) };
}

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
  // An odd count: pairs from both ends; sums take cosines, differences sines.
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

export function product(body: FunctionBody, a: Complex, b: Complex): Complex {
  return {
    re: body.keep(f32x4.sub(f32x4.mul(a.re, b.re), f32x4.mul(a.im, b.im))),
    im: body.keep(f32x4.add(f32x4.mul(a.re, b.im), f32x4.mul(a.im, b.re))),
  };
}

export function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
