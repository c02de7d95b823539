import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openQuantised } from "../../../src/engines/codec-lm/quantised-weights.ts";
import { openWeights } from "../../../src/onnx/weights-folder.ts";
import { LARGE } from "./large-weights.ts";

/**
 * Opens quantised weights, and prints a line with the result. Midway it prints `midway` and continues, hangs (`hang`),
 * waits for input (`wait`) or fills the disk (`fill`).
 */
const [, , folder = "", cacheFolder = "", midway = "go on"] = process.argv;
const weights = await openWeights(folder, "model.safetensors");
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const interrupted: typeof weights = {
  ...weights,
  async readInto(room, name, from) {
    if (name === LARGE.matrices[1]!.name && from === 0) {
      say("midway");
      if (midway === "hang") await new Promise(() => setInterval(() => {}, 60_000));
      if (midway === "wait") {
        await once(process.stdin, "data");
        process.stdin.pause();
      }
      if (midway === "fill") fill(join(cacheFolder, "filler"));
    }
    await weights.readInto(room, name, from);
  },
};

function fill(path: string): void {
  const piece = new Uint8Array(2 ** 16);
  try {
    for (;;) writeFileSync(path, piece, { flag: "a" });
  } catch {
    return;
  }
}

try {
  const quantised = await openQuantised(interrupted, LARGE, cacheFolder, new AbortController().signal);
  say(`opened ${quantised.variables.size} tensors`);
  await quantised.close();
} catch (error) {
  say(`refused ${error}`);
}
await weights.close();
