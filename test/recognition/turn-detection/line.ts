import { readFileSync } from "node:fs";
import { join } from "node:path";
import { decoded } from "../../audio/recordings/decoded.ts";
import { TOP } from "../../e2e/folders.ts";

const FOLDER = join(TOP, "test/golden/turn-detection");

/** What the networks' own programs gave for the line. */
export interface LineGolden {
  readonly activity: readonly number[];
  readonly turns: readonly { readonly samples: number; readonly finished: number }[];
}

export const lineGolden = JSON.parse(readFileSync(join(FOLDER, "line.json"), "utf8")) as LineGolden;

/** A line of our voice, two sentences with a pause between them and quiet around them, at 16 kHz. */
export async function line(): Promise<Float32Array> {
  return (await decoded(readFileSync(join(FOLDER, "line.flac")), 10)).samples;
}
