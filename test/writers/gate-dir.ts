import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { GateClass } from "../../src/writers/gate-category.ts";

const TOP = fileURLToPath(new URL("../../../", import.meta.url));

/** The gate that is shipped. */
export const GATE_DIR = join(TOP, "gate");

/** The lines of one class that the gate never learnt from and was never adjusted to. */
export async function heldOut(name: GateClass): Promise<string[]> {
  const text = await readFile(join(TOP, "training", "gate", "held-out", `${name}.txt`), "utf8");
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}
