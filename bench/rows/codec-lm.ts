import { availableParallelism } from "node:os";
import { join } from "node:path";
import { csm } from "../../src/engines/codec-lm/csm/csm.ts";
import type { Precision } from "../../src/engines/codec-lm/model.ts";
import { writeRandomCsm } from "../random-checkpoint.ts";
import type { Row } from "../row.ts";
import { CACHE, TOP } from "../top.ts";

const PROMPT = "Well, that depends on whom you ask, I suppose; but nobody has asked me for a while. ".repeat(
  4,
);

export const codecLm: Row = {
  id: "codec-lm",
  what: "a codec language model of CSM-1B's shapes (dice for weights), one utterance, as many threads as there are cores: time to open it, the second time; then from the request to the first frame; then of each frame of 80 ms",
  goal: "int4: a frame in 250 ms",
  async measure({ isQuick, note }) {
    const folder = join(CACHE, "codec-lm", "csm-f32");
    note("a checkpoint of 6.6 GB, if it is not there yet");
    await writeRandomCsm(folder, join(TOP, "test/golden/csm/csm-tiny"));
    const told: string[] = [];
    let isMet = false;
    for (const precision of ["fp32", "int8", "int4"] as const) {
      note(precision);
      const { openS, firstS, frameMs } = await speed(folder, precision, isQuick ? 6 : 40);
      told.push(`${precision}: ${openS.toFixed(1)} s, ${firstS.toFixed(1)} s, ${frameMs.toFixed(0)} ms`);
      if (precision === "int4") isMet = frameMs <= 250;
    }
    return { measured: told.join("; "), isMet };
  },
};

async function speed(folder: string, precision: Precision, frames: number) {
  const { signal } = new AbortController();
  const cacheFolder = join(CACHE, "codec-lm", "quantised");
  const open = () => csm.open(folder, { threads: availableParallelism(), precision, cacheFolder, signal });
  // What is quantised is kept from then on.
  await (await open()).close();
  const begunAt = performance.now();
  const model = await open();
  const openS = (performance.now() - begunAt) / 1_000;
  try {
    const utterance = {
      history: [],
      open: { speaker: "0", text: PROMPT },
      wishes: { temperature: 0.9, topK: 50, maxFrames: frames },
      options: new Map<string, string>(),
      uniforms: null,
      seed: 1n,
    };
    const askedAt = performance.now();
    const speech = model.speak(utterance, signal);
    await speech.next();
    const firstAt = performance.now();
    const times: number[] = [];
    for (let last = firstAt; !(await speech.next()).done; last = performance.now()) {
      times.push(performance.now() - last);
    }
    times.sort((a, b) => a - b);
    return { openS, firstS: (firstAt - askedAt) / 1_000, frameMs: times[times.length >> 1]! };
  } finally {
    await model.close();
  }
}
