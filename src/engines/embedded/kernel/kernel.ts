import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { assemble, FunctionBody } from "../../../onnx/assemble-wasm.ts";
import { type Code, f32, f32x4, f64, i32, v128 } from "../../../onnx/wasm-instructions.ts";
import { BIN_HZ, BINS, HOP_SAMPLES, VOICED_ABOVE_HZ, WINDOW_SAMPLES } from "../../prosody/frames.ts";
import type { Table } from "./fourier.ts";
import { frameCode } from "./frame.ts";
import { BANDS, type KernelMemory, Layout, reserveKernelMemory, SPECTRUM_VALUES } from "./layout.ts";
import { sineCosine } from "./vector-math.ts";

/**
 * Waveform synthesis in WebAssembly SIMD, assembled at first use. It keeps no state between calls, so one kernel
 * serves all utterances of a thread: write the inputs, call, read the outputs.
 */
export interface Kernel {
  /** Inputs of {@link frame}: see `KernelMemory`. */
  readonly spectrum: Float32Array;
  readonly gain: Float32Array;
  readonly turn: Float32Array;
  readonly shake: Float32Array;
  readonly pulses: Float32Array;
  readonly overlap: Float32Array;
  readonly bands: Float32Array;
  readonly hopSamples: Float32Array;
  readonly samples: Float32Array;
  /** Computes one hop of the pulse train. Takes and returns the phase in turns. */
  hop(previousHz: number, hz: number, nextHz: number, phase: number): number;
  addBands(): void;
  /** Computes one frame's samples. @param voiced 1 to use the pulses @param bins bins to fill, 1 to 601 */
  frame(voiced: 0 | 1, seed: number, bins: number): void;
}

export async function createKernel(): Promise<Kernel> {
  const layout = new Layout();
  const exchange = reserveKernelMemory(layout);
  const { functions, tables } = frameCode(layout, exchange);
  const gains = bandGains(layout, exchange);
  const code = assemble([...functions, pulseHop(layout, exchange.hop), gains.add], layout.pages);
  const memory = new WebAssembly.Memory({ initial: layout.pages, maximum: layout.pages });
  const { instance } = await WebAssembly.instantiate(code, { host: { memory } });
  const view = (address: number, length: number) => new Float32Array(memory.buffer, address, length);
  for (const { address, values } of [...tables, ...gains.tables]) view(address, values.length).set(values);
  const { hop, frame, addBands } = instance.exports;
  if (hop === undefined || frame === undefined || addBands === undefined)
    throw new Error("The kernel lacks a function.");
  return {
    spectrum: view(exchange.spectrum, SPECTRUM_VALUES),
    gain: view(exchange.gain, BINS),
    turn: view(exchange.turn, BINS),
    shake: view(exchange.shake, 1),
    bands: view(exchange.bands, BANDS),
    pulses: view(exchange.pulses, WINDOW_SAMPLES),
    overlap: view(exchange.overlap, WINDOW_SAMPLES),
    hopSamples: view(exchange.hop, HOP_SAMPLES),
    samples: view(exchange.samples, WINDOW_SAMPLES),
    hop,
    addBands,
    frame,
  };
}

/** `addBands()`: adds to each bin's gain the interpolated gain of the two bands around it. */
export function bandGains(
  layout: Layout,
  { bands, gain }: Pick<KernelMemory, "bands" | "gain">,
): { readonly add: FunctionBody; readonly tables: readonly Table[] } {
  const add = new FunctionBody("addBands");
  // Positions of the bins among the bands: nearly linear at low frequencies, logarithmic above.
  const places = Array.from({ length: BINS }, (_, bin) =>
    Math.min(BANDS - 1.001, 4.6 * Math.log2(1 + (bin * BIN_HZ) / 400)),
  );
  const tables = Array.from({ length: BANDS }, (_, band) => {
    const shares = places.map((place) => Math.max(0, 1 - Math.abs(place - band)));
    const inside = shares.flatMap((share, bin) => (share > 0 ? [bin] : []));
    const from = LANES * Math.floor((inside[0] ?? 0) / LANES);
    const to = (inside.at(-1) ?? 0) + 1;
    const table = { address: layout.reserve(to - from), values: Float32Array.from(shares.slice(from, to)) };
    const level = add.keep(v128.loadSplat(i32.const(0), bands + band * BYTES));
    add.loop(0, i32.const((to - from) * BYTES), LANES * BYTES, (at) => {
      const offset = gain + from * BYTES;
      const sum = f32x4.add(v128.load(at, offset), f32x4.mul(level, v128.load(at, table.address)));
      add.emit(v128.store(at, sum, offset));
    });
    return table;
  });
  return { add, tables };
}

const BYTES = 4;
const LANES = 4;

/**
 * `hop(previousHz, hz, nextHz, phase) → phase`: one hop of a band-limited pulse train, every harmonic below 11 kHz at
 * amplitude 1: Σ cos(h·t) = sin((H + ½)t) / (2 sin(t/2)) − ½ (the Dirichlet kernel; hibari-tts 0.2.1, dsp.py). Pitch
 * is interpolated linearly between the middles of hops; at 40 Hz or less there are no pulses. The phase is in turns,
 * in double precision from hop to hop.
 */
export function pulseHop(layout: Layout, hop: number): FunctionBody {
  const phases = layout.reserve(HOP_SAMPLES);
  const pitches = layout.reserve(HOP_SAMPLES);
  const body = new FunctionBody("hop", ["f64", "f64", "f64", "f64"], "f64");
  const [previous, current, next, phase] = [0, 1, 2, 3].map((index) => body.parameter(index));
  if (!previous || !current || !next || !phase) throw new Error("The function has four parameters.");

  const half = (from: number, slope: Code) => {
    const start = i32.const(from * BYTES);
    body.loop(0, i32.const((HOP_SAMPLES / 2) * BYTES), BYTES, (counter) => {
      const at = body.keep(i32.add(counter, start), "i32");
      const position = f64.mul(f64.fromI32(at), f64.const(1 / (BYTES * HOP_SAMPLES)));
      const fromMiddle = f64.add(position, f64.const(0.5 / HOP_SAMPLES - 0.5));
      const pitch = body.keep(f64.add(current.get, f64.mul(slope, fromMiddle)), "f64");
      const step = f64.mul(f64.max(pitch, f64.const(VOICED_ABOVE_HZ)), f64.const(1 / SAMPLE_RATE_HZ));
      const sum = body.keep(f64.add(phase.get, step), "f64");
      phase.set(f64.sub(sum, f64.floor(sum)));
      body.emit(f32.store(at, f32.fromF64(phase.get), phases), f32.store(at, f32.fromF64(pitch), pitches));
    });
  };
  half(0, body.keep(f64.sub(current.get, previous.get), "f64"));
  half(HOP_SAMPLES / 2, body.keep(f64.sub(next.get, current.get), "f64"));

  body.loop(0, i32.const(HOP_SAMPLES * BYTES), 4 * BYTES, (at) => {
    const pitch = body.keep(v128.load(at, pitches));
    const floor = f32x4.const(VOICED_ABOVE_HZ);
    const turns = body.keep(v128.load(at, phases));
    const harmonics = f32x4.floor(f32x4.div(f32x4.const(MAX_HARMONIC_HZ), f32x4.pmax(pitch, floor)));
    const count = body.keep(f32x4.add(harmonics, f32x4.const(0.5)));
    const below = body.keep(
      f32x4.mul(f32x4.const(2), sineCosine(body, f32x4.mul(turns, f32x4.const(0.5))).sine),
    );
    const ratio = f32x4.div(sineCosine(body, body.keep(f32x4.mul(count, turns))).sine, below);
    // At the peak both sines vanish; their ratio there is the number of harmonics and a half.
    const train = v128.select(ratio, count, f32x4.greaterThan(f32x4.abs(below), f32x4.const(2e-3)));
    const voiced = f32x4.greaterThan(pitch, floor);
    body.emit(v128.store(at, v128.and(f32x4.sub(train, f32x4.const(0.5)), voiced), hop));
  });
  body.emit(phase.get);
  return body;
}

const MAX_HARMONIC_HZ = 11_000;
