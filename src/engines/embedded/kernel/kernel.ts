import { assemble } from "../../../onnx/assemble.ts";
import { HOP_SAMPLES } from "../../prosody/frames.ts";
import { BINS, WINDOW_SAMPLES } from "../../prosody/spectral-frame.ts";
import { SPECTRUM_VALUES } from "../geometry.ts";
import { bandGains } from "./bands.ts";
import { frameCode } from "./frame.ts";
import { BANDS, Layout, reserveExchange } from "./layout.ts";
import { pulseHop } from "./pulse-train.ts";

/**
 * The arithmetic of waveform synthesis, in WebAssembly with vectors, assembled when it is first asked for. It keeps
 * nothing between calls, so one serves every utterance in a thread: write the inputs, call, read the outputs.
 */
export interface Kernel {
  /** Inputs of {@link frame}: see `Exchange` for what each holds. */
  readonly spectrum: Float32Array;
  readonly gain: Float32Array;
  readonly turn: Float32Array;
  readonly shake: Float32Array;
  readonly pulses: Float32Array;
  readonly overlap: Float32Array;
  /** Input of {@link addBands}. */
  readonly bands: Float32Array;
  /** Output of {@link hop}. */
  readonly hopSamples: Float32Array;
  /** Output of {@link frame}. */
  readonly samples: Float32Array;
  /** One hop of the pulse train; takes and gives the phase in turns. */
  hop(previousHz: number, hz: number, nextHz: number, phase: number): number;
  /** Adds the bands' gains to those of the bins. */
  addBands(): void;
  /** One frame's samples. @param voiced 1 to use the pulses. @param bins how many bins to fill, 1 to 601. */
  frame(voiced: 0 | 1, seed: number, bins: number): void;
}

export async function createKernel(): Promise<Kernel> {
  const layout = new Layout();
  const exchange = reserveExchange(layout);
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
