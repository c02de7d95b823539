import type { FunctionBody } from "../../../onnx/assemble.ts";
import { type Code, i32, v128 } from "../../../onnx/instructions.ts";
import { butterfly, type Complex, product, range } from "./butterfly.ts";
import { type ComplexRegion, type Layout, reserveComplex } from "./layout.ts";

/** A table of constants and where it lies. */
export interface Table {
  readonly address: number;
  readonly values: Float32Array;
}

/** A Fourier transform of `points` complex numbers in WebAssembly. */
export interface Transform {
  /** Put the numbers here before a call: it is overwritten. */
  readonly input: ComplexRegion;
  /** Find the transform here after it. */
  readonly output: ComplexRegion;
  /** Emits the transform where it is needed. */
  emit(body: FunctionBody): void;
  readonly tables: readonly Table[];
}

/**
 * X[k] = Σ x[n] e^(−2πi·nk/points), four butterflies at a time. Stockham's self-sorting form: each pass reads one
 * region and writes the other, so nothing is reordered (Cochran et al., "What is the fast Fourier transform?", 1967).
 * @param radices factors of `points`, each 2 to 6; the first is 4, and the product up to any later one a multiple of 4.
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

/** One pass: `groups` butterflies for each of the `done` results that earlier passes left side by side. */
interface Pass {
  readonly radix: number;
  readonly done: number;
  readonly groups: number;
  readonly points: number;
}

const FLOAT_BYTES = 4;
const VECTOR_BYTES = 16;

/** e^(−2πi·j·t·done/points) for group j and leg t ≥ 1: a table of cosines and one of sines for each leg. */
function twiddles(layout: Layout, { radix, done, groups, points }: Pass): Table[] {
  const table = (leg: number, of: (angle: number) => number): Table => ({
    address: layout.reserve(groups),
    values: Float32Array.from({ length: groups }, (_, j) => of((-2 * Math.PI * j * leg * done) / points)),
  });
  const legs = Array.from({ length: radix - 1 }, (_, index) => index + 1);
  return legs.flatMap((leg) => [table(leg, Math.cos), table(leg, Math.sin)]);
}

/** The first pass has nothing side by side, so it takes four groups at a time and turns the results around. */
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

/** Four vectors of four as columns instead of rows. */
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
