import { readFile } from "node:fs/promises";
import type { createKernel } from "../../../src/engines/embedded/kernel/kernel.ts";
import { SPECTRUM_PART, SPECTRUM_VALUES } from "../../../src/engines/embedded/kernel/layout.ts";
import type { EmbeddedNetwork } from "../../../src/engines/embedded/network.ts";
import { UNCHANGED_SPECTRUM } from "../../../src/engines/embedded/spectral-envelope.ts";
import { SpectrumStream } from "../../../src/engines/embedded/spectrum-stream.ts";
import { Waveform } from "../../../src/engines/embedded/waveform.ts";
import { HOP_SAMPLES, VOICED_ABOVE_HZ } from "../../../src/engines/prosody/frames.ts";
import { type Plan, planContour, planTiming } from "../../../src/engines/prosody/plan.ts";
import { rms } from "./listening.ts";

/** One sentence of test/golden/voice/network.json. */
export interface GoldenCase {
  readonly text: string;
  readonly ids: readonly number[];
  readonly frames: number;
  readonly durations_25ms: readonly number[];
  readonly durations_raw: readonly number[];
  readonly f0: readonly number[];
  readonly energy: readonly number[];
  readonly wave: {
    readonly samples: number;
    readonly rms: number;
    readonly peak: number;
    readonly block_rms_25ms: readonly number[];
  };
}

/** Five spectral parts of a case's first and last five frames, at the bins of `meta.bins`. */
export type GoldenSpectra = Readonly<
  Record<"lh" | "theta" | "ln" | "lr" | "phi", readonly (readonly number[])[]>
>;

export interface Goldens {
  readonly meta: {
    readonly bins: readonly number[];
    readonly tolerance: {
      readonly float: {
        readonly durations_raw: number;
        readonly f0_hz: number;
        readonly energy: number;
        readonly lh_theta_ln_lr_phi_max: number;
        readonly wave_rms_relative: number;
      };
      readonly int8: {
        readonly f0_hz_rms_voiced: number;
        readonly lh_theta_ln_lr_phi_rms: number;
      };
    };
  };
  readonly cases: readonly (GoldenCase & GoldenSpectra)[];
}

export async function readGoldens(): Promise<Goldens> {
  const file = new URL("../../../../test/golden/voice/network.json", import.meta.url);
  return JSON.parse(await readFile(file, "utf8")) as Goldens;
}

/** The largest difference of two lists. */
export function furthest(found: ArrayLike<number>, wanted: ArrayLike<number>): number {
  if (found.length !== wanted.length) throw new Error(`${found.length} values instead of ${wanted.length}.`);
  let most = 0;
  for (let i = 0; i < found.length; i++) most = Math.max(most, Math.abs(found[i]! - wanted[i]!));
  return most;
}

/** Differences of the 8-bit network from a golden; all but the first two at the golden's durations. */
export interface Apart {
  /** The largest difference of a phoneme, in steps of 25 ms, and that of the sentence, relative. */
  readonly steps: number;
  readonly length: number;
  /** RMS of the voiced pitch in hertz, and of all spectral values. */
  readonly pitchHz: number;
  readonly spectra: number;
}

export async function apartFrom(
  golden: GoldenCase & GoldenSpectra,
  bins: readonly number[],
  network: EmbeddedNetwork,
): Promise<Apart> {
  const timing = await planTiming(network, golden.ids);
  const own = await planContour(network, timing);
  const steps = Float32Array.from(golden.durations_25ms);
  const plan = await planContour(network, { ...timing, steps });
  const spectra = await decoded(network, plan);
  const differences = (Object.entries(OFFSETS) as [keyof GoldenSpectra, number][]).flatMap(([name, offset]) =>
    golden[name].flatMap((wanted, row) => {
      const frame = row < 5 ? row : plan.frames - 10 + row;
      return wanted.map((value, bin) => spectra[frame * SPECTRUM_VALUES + offset + bins[bin]!]! - value);
    }),
  );
  const voiced = golden.f0.flatMap((hz, frame) => (hz > VOICED_ABOVE_HZ ? [plan.pitchHz[frame]! - hz] : []));
  return {
    steps: furthest(own.steps, golden.durations_25ms),
    length: Math.abs(own.frames / golden.frames - 1),
    pitchHz: rms(Float32Array.from(voiced)),
    spectra: rms(Float32Array.from(differences)),
  };
}

/** The spectra of a sentence, [frames, 3005], decoded in the usual chunks. */
export async function decoded(network: EmbeddedNetwork, plan: Plan): Promise<Float32Array> {
  const spectra = new Float32Array(plan.frames * SPECTRUM_VALUES);
  const stream = new SpectrumStream(network, plan, { from: 0, to: plan.frames });
  for (let chunk = await stream.next(); chunk !== null; chunk = await stream.next())
    spectra.set(chunk.values, chunk.first * SPECTRUM_VALUES);
  return spectra;
}

/** Offsets of the goldens' parts in a frame. */
export const OFFSETS: Readonly<Record<keyof GoldenSpectra, number>> = {
  lh: SPECTRUM_PART.pulseGain,
  theta: SPECTRUM_PART.pulsePhase,
  ln: SPECTRUM_PART.noiseGain,
  lr: SPECTRUM_PART.freeGain,
  phi: SPECTRUM_PART.freePhase,
};

/** The whole sentence, without noise, as in the goldens. */
export function synthesise(
  kernel: Awaited<ReturnType<typeof createKernel>>,
  plan: Plan,
  spectra: Float32Array,
): Float32Array {
  const withoutNoise = spectra.slice();
  for (let at = SPECTRUM_PART.noiseGain; at < withoutNoise.length; at += SPECTRUM_VALUES)
    withoutNoise.fill(-87, at, at + SPECTRUM_PART.freeGain - SPECTRUM_PART.noiseGain);
  const waveform = new Waveform(kernel, {
    pitchHz: plan.pitchHz,
    from: 0,
    noiseSeed: 1,
    bins: 601,
    transform: UNCHANGED_SPECTRUM,
  });
  const samples = new Float32Array(plan.frames * HOP_SAMPLES);
  const hop = new Float32Array(HOP_SAMPLES);
  for (let frame = 0; frame < plan.frames + 2; frame++) {
    if (frame < plan.frames) waveform.add(withoutNoise, frame * SPECTRUM_VALUES, hop);
    else waveform.drain(hop);
    if (frame >= 2) samples.set(hop, (frame - 2) * HOP_SAMPLES);
  }
  return samples;
}
