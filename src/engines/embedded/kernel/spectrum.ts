import type { FunctionBody } from "../../../onnx/assemble.ts";
import { type Code, f32, f32x4, i32, i32x4, v128 } from "../../../onnx/instructions.ts";
import { BINS } from "../../prosody/spectral-frame.ts";
import { PART } from "../geometry.ts";
import type { ComplexRegion, Exchange } from "./layout.ts";
import { exponential, hyperbolicTangent, sineCosine } from "./vector-math.ts";

/** The sum of the three parts, bin by bin. */
export function emitSpectrum(
  body: FunctionBody,
  { spectrum, gain, turn, shake }: Exchange,
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

      const free = magnitude(PART.freeGain);
      const turned = f32x4.add(v128.load(at, turn), f32x4.mul(shaken, noise()));
      const phase = f32x4.add(part(at, PART.freePhase), turned);
      const direction = sineCosine(body, body.keep(f32x4.mul(phase, perTurn)));
      const noisy = magnitude(PART.noiseGain);
      let re = f32x4.add(f32x4.mul(free, direction.cosine), f32x4.mul(noisy, noise()));
      let im = f32x4.add(f32x4.mul(free, direction.sine), f32x4.mul(noisy, noise()));
      if (withPulses) {
        const filter = magnitude(PART.pulseGain);
        const halfTurns = hyperbolicTangent(body, part(at, PART.pulsePhase));
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
  // A real signal has nothing imaginary in its first and last bin.
  for (const bin of [0, BINS - 1]) {
    body.emit(f32.store(i32.const(bin * BYTES), f32.const(0), result.im));
  }
}

/** Uniform numbers of variance 1, four at a time: xorshift (Marsaglia, 2003), seeded apart in each lane. */
function createNoise(body: FunctionBody, seed: Code): () => Code {
  const state = body.local("v128");
  const shifted = (value: Code) => v128.xor(value, i32x4.shiftRightUnsigned(value, 16));
  state.set(i32x4.add(i32x4.splat(seed), i32x4.const(0x1f83d9ab, 0x5be0cd19, 0x3c6ef372, 0x510e527f)));
  for (const factor of [0x7feb352d, 0x2c1b3c6d]) {
    state.set(i32x4.mul(shifted(state.get), i32x4.const(factor, factor, factor, factor)));
  }
  return () => {
    state.set(v128.xor(state.get, i32x4.shiftLeft(state.get, 13)));
    state.set(v128.xor(state.get, i32x4.shiftRightUnsigned(state.get, 17)));
    state.set(v128.xor(state.get, i32x4.shiftLeft(state.get, 5)));
    return body.keep(f32x4.mul(f32x4.fromI32(state.get), f32x4.const(Math.sqrt(3) / 2 ** 31)));
  };
}

const BYTES = 4;
const VECTOR = 16;
