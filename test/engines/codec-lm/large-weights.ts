import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Quantisation } from "../../../src/engines/codec-lm/quantised-weights.ts";
import { writeSafetensors } from "../../../src/onnx/write-safetensors.ts";

const [ROWS, COLUMNS] = [3_000, 4_096];

/** Weights whose quantised form, 28 MB, is written in several pieces. */
export const LARGE: Quantisation = {
  matrices: [
    { name: "first.weight", bits: 8 },
    { name: "second.weight", bits: 8 },
  ],
  stacks: [],
  kept: [],
};

export async function largeWeights(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-"));
  const row = Uint16Array.from({ length: COLUMNS }, (_, at) => 0x3f80 + (at % 128));
  const makings = LARGE.matrices.map(({ name }) => ({
    tensors: [{ name, dtype: "BF16" as const, shape: [ROWS, COLUMNS] }],
    *make() {
      for (let at = 0; at < ROWS; at++) yield new Uint8Array(row.buffer);
    },
  }));
  await writeSafetensors(join(folder, "model.safetensors"), makings);
  return folder;
}
