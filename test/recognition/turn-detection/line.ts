import { readFileSync } from "node:fs";
import { join } from "node:path";
import { decoded } from "../../audio/recordings/decoded.ts";
import { TOP } from "../../e2e/folders.ts";

const FOLDER = join(TOP, "test/golden/turn-detection");

/** Outputs of the networks' own programs for the line. */
export interface LineGolden {
  readonly activity: readonly number[];
  readonly turns: readonly { readonly samples: number; readonly finished: number }[];
}

export const lineGolden = JSON.parse(readFileSync(join(FOLDER, "line.json"), "utf8")) as LineGolden;

/** Two sentences of the embedded voice, with silence between and around them, at 16 kHz. */
export async function line(): Promise<Float32Array> {
  return (await decoded(readFileSync(join(FOLDER, "line.flac")), 10)).samples;
}
