import { FunctionBody } from "../../../onnx/assemble-wasm.ts";
import { type Code, f32, f32x4, i32, i32x4, v128 } from "../../../onnx/wasm-instructions.ts";
import { BINS, WINDOW_SAMPLES } from "../../prosody/frames.ts";
import { createTransform, type Table, type Transform } from "./fourier.ts";
import {
  type ComplexRegion,
  type KernelMemory,
  type Layout,
  reserveComplex,
  SPECTRUM_PART,
} from "./layout.ts";
import { exponential, hyperbolicTangent, sineCosine } from "./vector-math.ts";

export interface FrameCode {
  /** In this order: `frame` calls the first by its index. */
  readonly functions: readonly [transform: FunctionBody, frame: FunctionBody];
  readonly tables: readonly Table[];
}

/**
 * `frame(voiced, seed, bins)`: turns the decoder's description of a frame, and the pulse train under its window, into
 * samples:
 *
 *   S = e^(lh + g) e^(iπ tanh θ) · F(pulses · window) + e^(ln + g) · noise + e^(lr + g) e^(i(φ + t))
 *
 * then the inverse transform and the window, scaled so that frames a quarter window apart add up (hibari-tts 0.2.1,
 * dsp.py; gain g and turn t, partly random, are ours), added to earlier frames' overlap. Bins from `bins` on stay
 * empty and cost nothing. The noise is uniform with the variance of the normal noise in training: it holds 2e-5 of
 * the energy.
 */
export function frameCode(layout: Layout, exchange: KernelMemory): FrameCode {
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
/** A real transform of 1200 points is a complex one of 600 and a rotation. */
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

/** Separates the transform of even and odd samples into bins 0 to 600 (the window's table halves them). */
function emitRealSpectrum(
  body: FunctionBody,
  { output }: Transform,
  source: ComplexRegion,
  { cosine, sine }: Turning,
): void {
  const nowhere = i32.const(0);
  for (const region of [output.re, output.im])
    body.emit(f32.store(nowhere, f32.load(nowhere, region), region + POINTS * BYTES));
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

/** The inverse of {@link emitRealSpectrum}, conjugated so that the same transform inverts it. */
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
  { overlap, samples }: Pick<KernelMemory, "overlap" | "samples">,
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

export function emitSpectrum(
  body: FunctionBody,
  { spectrum, gain, turn, shake }: KernelMemory,
  source: ComplexRegion,
  result: ComplexRegion,
  { voiced, seed, bins }: { readonly voiced: Code; readonly seed: Code; readonly bins: Code },
): void {
  const part = (at: Code, offset: number) => v128.load(at, spectrum + offset * BYTES);
  const perTurn = f32x4.const(1 / (2 * Math.PI));
  const noise = createNoise(body, seed);
  const shaken = body.keep(v128.loadSplat(i32.const(0), shake));
  for (const region of [result.re, result.im]) body.clear(region, (BINS + 3) * BYTES);

  const fill = (withPulses: boolean) => {
    body.loop(0, i32.shiftLeft(bins, i32.const(2)), VECTOR, (at) => {
      const added = body.keep(v128.load(at, gain));
      const magnitude = (offset: number) => exponential(body, f32x4.add(part(at, offset), added));

      const free = magnitude(SPECTRUM_PART.freeGain);
      const turned = f32x4.add(v128.load(at, turn), f32x4.mul(shaken, noise()));
      const phase = f32x4.add(part(at, SPECTRUM_PART.freePhase), turned);
      const direction = sineCosine(body, body.keep(f32x4.mul(phase, perTurn)));
      const noisy = magnitude(SPECTRUM_PART.noiseGain);
      let re = f32x4.add(f32x4.mul(free, direction.cosine), f32x4.mul(noisy, noise()));
      let im = f32x4.add(f32x4.mul(free, direction.sine), f32x4.mul(noisy, noise()));
      if (withPulses) {
        const filter = magnitude(SPECTRUM_PART.pulseGain);
        const halfTurns = hyperbolicTangent(body, part(at, SPECTRUM_PART.pulsePhase));
        const { sine, cosine } = sineCosine(body, body.keep(f32x4.mul(halfTurns, f32x4.const(0.5))));
        const filterRe = body.keep(f32x4.mul(filter, cosine));
        const filterIm = body.keep(f32x4.mul(filter, sine));
        const pulseRe = body.keep(v128.load(at, source.re));
        const pulseIm = body.keep(v128.load(at, source.im));
        re = f32x4.add(re, f32x4.sub(f32x4.mul(filterRe, pulseRe), f32x4.mul(filterIm, pulseIm)));
        im = f32x4.add(im, f32x4.add(f32x4.mul(filterRe, pulseIm), f32x4.mul(filterIm, pulseRe)));
      }
      body.emit(v128.store(at, re, result.re), v128.store(at, im, result.im));
    });
  };
  body.when(voiced, () => fill(true));
  body.when(i32.isZero(voiced), () => fill(false));
  // A real signal's first and last bin are real.
  for (const bin of [0, BINS - 1]) body.emit(f32.store(i32.const(bin * BYTES), f32.const(0), result.im));
}

/** Uniform numbers of variance 1, four at a time: xorshift (Marsaglia, 2003), seeded apart in each lane. */
function createNoise(body: FunctionBody, seed: Code): () => Code {
  const state = body.local("v128");
  const shifted = (value: Code) => v128.xor(value, i32x4.shiftRightUnsigned(value, 16));
  state.set(i32x4.add(i32x4.splat(seed), i32x4.const(0x1f83d9ab, 0x5be0cd19, 0x3c6ef372, 0x510e527f)));
  for (const factor of [0x7feb352d, 0x2c1b3c6d])
    state.set(i32x4.mul(shifted(state.get), i32x4.const(factor, factor, factor, factor)));
  return () => {
    state.set(v128.xor(state.get, i32x4.shiftLeft(state.get, 13)));
    state.set(v128.xor(state.get, i32x4.shiftRightUnsigned(state.get, 17)));
    state.set(v128.xor(state.get, i32x4.shiftLeft(state.get, 5)));
    return body.keep(f32x4.mul(f32x4.fromI32(state.get), f32x4.const(Math.sqrt(3) / 2 ** 31)));
  };
}
