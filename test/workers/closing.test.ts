import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const pool = new URL("../../src/workers/worker-pool.js", import.meta.url).href;
const voice = new URL("../../src/engines/embedded/model.js", import.meta.url).href;
const voiceDir = fileURLToPath(new URL("../../../voices/heart", import.meta.url));
const tone = new URL("../core/tone-model.js", import.meta.url).href;

test("a process exits after its pool is closed, even with an open utterance", async () => {
  const { stdout } = await runScript(`
    const pool = await createWorkerPool({ entry: new URL(${JSON.stringify(tone)}), create: {}, size: 2 });
    const speech = pool.speak(script, new AbortController().signal);
    await speech.next();
    await pool.close();
    console.log("closed");
  `);
  assert.equal(stdout, "closed\n");
});

test("a process exits after a pool that failed to start", async () => {
  const { stdout } = await runScript(`
    const entry = new URL("data:text/javascript,export async function createModel() { throw new Error('no weights') }");
    await createWorkerPool({ entry, create: {}, size: 2 }).catch((error) => console.log(error.message));
  `);
  assert.equal(stdout, "the speech model stopped: no weights\n");
});

test("a process that exits midway keeps its exit code while onnxruntime runs in its threads", async () => {
  const exiting = runScript(`
    const voiceDir = ${JSON.stringify(voiceDir)};
    const pool = await createWorkerPool({ entry: new URL(${JSON.stringify(voice)}), create: { voiceDir }, size: 2 });
    let frames = 0;
    async function listen() {
      for await (const _ of pool.speak({ ...script, text: text() }, new AbortController().signal)) {
        if (++frames === 40) process.exit(5);
      }
    }
    await Promise.all(Array.from({ length: 8 }, listen));
  `);
  await assert.rejects(exiting, { code: 5, signal: null });
});

/** Rejects if the process does not exit. */
function runScript(body: string) {
  const prelude = `
    import { createWorkerPool } from ${JSON.stringify(pool)};
    async function* text() { yield "One, two, three, four, five."; }
    const delivery = { temperature: 0, acousticTemperature: 0, topK: null, repetitionPenalty: 3, penaltyWindow: 20,
      maxFrames: 512, quality: "high" };
    const script = { history: [], speaker: "0", text: text(), delivery, preset: {}, seed: 1n };
  `;
  return run(process.execPath, ["--input-type=module", "--eval", prelude + body], { timeout: 120_000 });
}
