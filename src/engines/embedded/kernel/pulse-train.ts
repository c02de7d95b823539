import { SAMPLE_RATE_HZ } from "../../../audio/format.ts";
import { FunctionBody } from "../../../onnx/assemble.ts";
import { type Code, f32, f32x4, f64, i32, v128 } from "../../../onnx/instructions.ts";
import { HOP_SAMPLES, VOICED_ABOVE_HZ } from "../../prosody/frames.ts";
import type { Layout } from "./layout.ts";
import { sineCosine } from "./vector-math.ts";

/**
 * `hop(previousHz, hz, nextHz, phase) → phase`: one hop of a band-limited pulse train, every harmonic below 11 kHz at
 * amplitude 1: Σ cos(h·t) = sin((H + ½)t) / (2 sin(t/2)) − ½ (the Dirichlet kernel; hibari-tts 0.2.1, dsp.py). Pitch
 * runs in straight lines from the middle of one hop to the middle of the next; where it is 40 Hz or less there are no
 * pulses. The phase is in turns, and is kept in double precision from hop to hop.
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

const BYTES = 4;
const MAX_HARMONIC_HZ = 11_000;
