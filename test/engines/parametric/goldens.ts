import { readFile } from "node:fs/promises";
import { PART, SPECTRUM_VALUES } from "../../../src/engines/parametric/geometry.ts";
import type { createKernel } from "../../../src/engines/parametric/kernel/kernel.ts";
import { PLAIN, Waveform } from "../../../src/engines/parametric/waveform.ts";
import { HOP_SAMPLES } from "../../../src/planning/frames.ts";
import type { Plan } from "../../../src/planning/plan.ts";

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

/** The five spectral parts of a case's first and last five frames, at the bins of `meta.bins`. */
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
    };
  };
  readonly cases: readonly (GoldenCase & GoldenSpectra)[];
}

export async function readGoldens(): Promise<Goldens> {
  const file = new URL("../../../../test/golden/voice/network.json", import.meta.url);
  return JSON.parse(await readFile(file, "utf8")) as Goldens;
}

/** The largest difference between two lists of the same length. */
export function furthest(found: ArrayLike<number>, wanted: ArrayLike<number>): number {
  if (found.length !== wanted.length) throw new Error(`${found.length} values instead of ${wanted.length}.`);
  let most = 0;
  for (let i = 0; i < found.length; i++) most = Math.max(most, Math.abs(found[i]! - wanted[i]!));
  return most;
}

/** The whole sentence with its silence, the noise at zero as the goldens have it. */
export function synthesise(
  kernel: Awaited<ReturnType<typeof createKernel>>,
  plan: Plan,
  spectra: Float32Array,
): Float32Array {
  const withoutNoise = spectra.slice();
  for (let at = PART.noiseGain; at < withoutNoise.length; at += SPECTRUM_VALUES) {
    withoutNoise.fill(-87, at, at + PART.freeGain - PART.noiseGain);
  }
  const waveform = new Waveform(kernel, {
    pitchHz: plan.pitchHz,
    from: 0,
    noiseSeed: 1,
    bins: 601,
    colouring: PLAIN,
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
