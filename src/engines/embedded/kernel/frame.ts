import { FunctionBody } from "../../../onnx/assemble.ts";
import { type Code, f32, f32x4, i32, v128 } from "../../../onnx/instructions.ts";
import { BINS, WINDOW_SAMPLES } from "../../prosody/spectral-frame.ts";
import { createTransform, type Table, type Transform } from "./fourier.ts";
import { type ComplexRegion, type Exchange, type Layout, reserveComplex } from "./layout.ts";
import { emitSpectrum } from "./spectrum.ts";

/** The functions that make a frame's samples, and the tables that they read. */
export interface FrameCode {
  /** In this order: `frame` calls the first by its index. */
  readonly functions: readonly [transform: FunctionBody, frame: FunctionBody];
  readonly tables: readonly Table[];
}

/**
 * `frame(voiced, seed, bins)`: the decoder's description of a frame, and the pulse train under its window, to samples:
 *
 *   S = e^(lh + g) e^(iπ tanh θ) · F(pulses · window) + e^(ln + g) · noise + e^(lr + g) e^(i(φ + t))
 *
 * and back through the inverse transform and the window, scaled so that frames a quarter window apart add up
 * (hibari-tts 0.2.1, dsp.py; gain g and turn t, some of it at random, are ours), onto what frames before left. Bins from `bins` on are left empty and cost nothing.
 * The noise is uniform with the variance of the normal that the network was trained with: it holds 2e-5 of the energy.
 */
export function frameCode(layout: Layout, exchange: Exchange): FrameCode {
  const transform = createTransform(layout, POINTS, [4, 6, 5, 5]);
  const source = reserveComplex(layout, BINS);
  const result = reserveComplex(layout, BINS);
  const tables = {
    window: table(layout, WINDOW_SAMPLES, (n) => hann(n) / (2 * 300)),
    output: table(
      layout,
      WINDOW_SAMPLES,
      (n) => ((n % 2 === 0 ? 1 : -1) * hann(n)) / (OVERLAP * WINDOW_SAMPLES),
    ),
    cosine: table(layout, BINS, (k) => Math.cos((-Math.PI * k) / POINTS)),
    sine: table(layout, BINS, (k) => Math.sin((-Math.PI * k) / POINTS)),
  };

  const run = new FunctionBody("transform");
  transform.emit(run);

  const frame = new FunctionBody("frame", ["i32", "i32", "i32"]);
  const [voiced, seed, bins] = [0, 1, 2].map((index) => frame.parameter(index).get) as [Code, Code, Code];
  frame.when(voiced, () => {
    emitWindowed(frame, exchange.pulses, tables.window, transform);
    frame.call(TRANSFORM_INDEX);
    emitRealSpectrum(frame, transform, source, tables);
  });
  emitSpectrum(frame, exchange, source, result, { voiced, seed, bins });
  emitInverseInput(frame, result, transform, tables);
  frame.call(TRANSFORM_INDEX);
  emitSamples(frame, transform, tables.output, exchange);
  return { functions: [run, frame], tables: [...transform.tables, ...Object.values(tables)] };
}

const BYTES = 4;
const VECTOR = 16;
/** A real transform of 1200 points is a complex one of 600 and some turning. */
const POINTS = WINDOW_SAMPLES / 2;
const TRANSFORM_INDEX = 0;
/** Sum of the squares of four Hann windows a quarter apart. */
const OVERLAP = 1.5;
const REVERSED = [3, 2, 1, 0];

const hann = (n: number): number => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / WINDOW_SAMPLES);

function table(layout: Layout, length: number, of: (index: number) => number): Table {
  return { address: layout.reserve(length), values: Float32Array.from({ length }, (_, index) => of(index)) };
}

/** Even samples become real parts, odd ones imaginary parts. */
function emitWindowed(body: FunctionBody, pulses: number, window: Table, { input }: Transform): void {
  body.loop(0, i32.const(POINTS * BYTES), VECTOR, (at) => {
    const from = body.keep(i32.shiftLeft(at, i32.const(1)), "i32");
    const [low, high] = [0, VECTOR].map((offset) =>
      body.keep(f32x4.mul(v128.load(from, pulses + offset), v128.load(from, window.address + offset))),
    ) as [Code, Code];
    body.emit(v128.store(at, v128.lanes(low, high, [0, 2, 4, 6]), input.re));
    body.emit(v128.store(at, v128.lanes(low, high, [1, 3, 5, 7]), input.im));
  });
}

interface Turning {
  readonly cosine: Table;
  readonly sine: Table;
}

/** Four bins k and their mirror images POINTS − k, in step. */
function mirrored(body: FunctionBody, { re, im }: ComplexRegion, at: Code) {
  const back = body.keep(i32.sub(i32.const((POINTS - 3) * BYTES), at), "i32");
  const reversed = (region: number) => {
    const loaded = body.keep(v128.load(back, region));
    return body.keep(v128.lanes(loaded, loaded, REVERSED));
  };
  return {
    re: body.keep(v128.load(at, re)),
    im: body.keep(v128.load(at, im)),
    mirrorRe: reversed(re),
    mirrorIm: reversed(im),
  };
}

/** The transform of even and odd samples together, taken apart: bins 0 to 600 (the window's table halves them). */
function emitRealSpectrum(
  body: FunctionBody,
  { output }: Transform,
  source: ComplexRegion,
  { cosine, sine }: Turning,
): void {
  const nowhere = i32.const(0);
  for (const region of [output.re, output.im]) {
    body.emit(f32.store(nowhere, f32.load(nowhere, region), region + POINTS * BYTES));
  }
  body.loop(0, i32.const(POINTS * BYTES), VECTOR, (at) => {
    const z = mirrored(body, output, at);
    const evenRe = f32x4.add(z.re, z.mirrorRe);
    const evenIm = f32x4.sub(z.im, z.mirrorIm);
    const oddRe = body.keep(f32x4.add(z.im, z.mirrorIm));
    const oddIm = body.keep(f32x4.sub(z.mirrorRe, z.re));
    const [c, s] = [body.keep(v128.load(at, cosine.address)), body.keep(v128.load(at, sine.address))];
    const turnedRe = f32x4.sub(f32x4.mul(oddRe, c), f32x4.mul(oddIm, s));
    const turnedIm = f32x4.add(f32x4.mul(oddRe, s), f32x4.mul(oddIm, c));
    body.emit(v128.store(at, f32x4.add(evenRe, turnedRe), source.re));
    body.emit(v128.store(at, f32x4.add(evenIm, turnedIm), source.im));
  });
  const last = f32.sub(f32.load(nowhere, output.re), f32.load(nowhere, output.im));
  body.emit(f32.store(nowhere, f32.add(last, last), source.re + POINTS * BYTES));
  body.emit(f32.store(nowhere, f32.const(0), source.im + POINTS * BYTES));
}

/** The inverse of {@link emitRealSpectrum}, conjugated so that the same transform turns it back. */
function emitInverseInput(
  body: FunctionBody,
  result: ComplexRegion,
  { input }: Transform,
  { cosine, sine }: Turning,
): void {
  body.loop(0, i32.const(POINTS * BYTES), VECTOR, (at) => {
    const s = mirrored(body, result, at);
    const evenRe = f32x4.add(s.re, s.mirrorRe);
    const evenIm = f32x4.sub(s.im, s.mirrorIm);
    const differenceRe = body.keep(f32x4.sub(s.re, s.mirrorRe));
    const sumIm = body.keep(f32x4.add(s.im, s.mirrorIm));
    const [c, sn] = [body.keep(v128.load(at, cosine.address)), body.keep(v128.load(at, sine.address))];
    const oddRe = f32x4.add(f32x4.mul(differenceRe, c), f32x4.mul(sumIm, sn));
    const oddIm = f32x4.sub(f32x4.mul(sumIm, c), f32x4.mul(differenceRe, sn));
    body.emit(v128.store(at, f32x4.sub(evenRe, oddIm), input.re));
    body.emit(v128.store(at, f32x4.negate(f32x4.add(evenIm, oddRe)), input.im));
  });
}

/** Real parts become even samples, negated imaginary parts odd ones (the table has the sign). */
function emitSamples(
  body: FunctionBody,
  { output }: Transform,
  scale: Table,
  { overlap, samples }: Pick<Exchange, "overlap" | "samples">,
): void {
  body.loop(0, i32.const(POINTS * BYTES), VECTOR, (at) => {
    const to = body.keep(i32.shiftLeft(at, i32.const(1)), "i32");
    const [re, im] = [body.keep(v128.load(at, output.re)), body.keep(v128.load(at, output.im))];
    [v128.lanes(re, im, [0, 4, 1, 5]), v128.lanes(re, im, [2, 6, 3, 7])].forEach((pairs, index) => {
      const offset = index * VECTOR;
      const scaled = f32x4.mul(pairs, v128.load(to, scale.address + offset));
      body.emit(v128.store(to, f32x4.add(v128.load(to, overlap + offset), scaled), samples + offset));
    });
  });
}
