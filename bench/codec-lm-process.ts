import { availableParallelism } from "node:os";
import { createInterface } from "node:readline";
import { readCheckpoint } from "../src/engines/codec-lm/read-checkpoint.ts";

/**
 * A codec language model in 4 bits, alone in its process: says how long opening it took, and then answers each line of
 * JSON, a number of frames, when it has spoken so many.
 */
const [, , folder = "", cacheFolder = ""] = process.argv;
const { signal } = new AbortController();
const begunAt = performance.now();
const checkpoint = await readCheckpoint(folder);
const model = await checkpoint.open({
  threads: availableParallelism(),
  precision: "int4",
  cacheFolder,
  signal,
});
process.stdout.write(`${JSON.stringify({ open_s: (performance.now() - begunAt) / 1_000 })}\n`);

/** Three seconds of something that a voice may be taken from. */
const clip = Float32Array.from({ length: 72_000 }, (_, at) => 0.2 * Math.sin(at / 20) * Math.sin(at / 1_400));

for await (const line of createInterface({ input: process.stdin })) {
  const speech = model.speak(
    {
      history: [{ speaker: "0", text: "This is what I sound like, more or less.", audio: clip }],
      open: { speaker: "0", text: "Well, that depends on whom you ask, I suppose." },
      sampling: { temperature: 0.9, topK: 50, maxFrames: JSON.parse(line) as number },
      options: new Map(),
      uniforms: null,
      seed: 1n,
    },
    signal,
  );
  let frames = 0;
  for (let step = await speech.next(); !step.done; step = await speech.next()) frames++;
  process.stdout.write(`${JSON.stringify({ frames })}\n`);
}
await model.close();
