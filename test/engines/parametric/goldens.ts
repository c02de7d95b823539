import { readFile } from "node:fs/promises";

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
