import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { SpeechFailedError } from "../../src/core/speech-model.ts";
import { createWorkerPool, type WorkerPool } from "../../src/workers/worker-pool.ts";
import { drain, LONG_TEXT, never, scriptOf, speakAll } from "../core/scripts.ts";
import { speechModelConformance } from "../core/speech-model-conformance.ts";
import { CSM } from "../engines/codec-lm/goldens.ts";
import { until, within } from "../waiting.ts";

const entry = new URL("./ending-codec-lm.js", import.meta.url);
const create = { folder: join(CSM, "csm-tiny"), places: 4 };
const REPORT = { stop: "finished", spoken: "" } as const;

function inThread(): Promise<WorkerPool> {
  return createWorkerPool({ entry, create, size: 1, isBatching: true });
}

// It reports no word times.
speechModelConformance("a codec language model in a thread", inThread, ["tellsWords"]);

test("a codec language model's thread killed midway fails its utterances and is replaced", async () => {
  const pool = await inThread();
  const spoken = [1n, 2n, 3n].map((seed) => pool.speak(scriptOf({ text: LONG_TEXT, seed }), never()));
  await Promise.all(spoken.map((speech) => speech.next()));
  const failures = spoken.map((speech) => assert.rejects(drain(speech), SpeechFailedError));
  await Promise.all([pool.terminateOne(), ...failures]);
  assert.equal((await speakAll(pool)).report.stop, "finished");
  assert.equal(pool.stats().replaced, 1);
  await pool.close();
});

test("an idle reader does not delay others", async () => {
  const pool = await inThread();
  const idle = pool.speak(scriptOf({ text: LONG_TEXT }), never());
  await idle.next();
  for (const seed of [1n, 2n]) await speakAll(pool, { seed });
  await idle.return(REPORT);
  await until("it to be let go", () => pool.stats().open === 0);
  await pool.close();
});

test("more utterances than slots are open at once, one leaves, and the others finish", async () => {
  const pool = await inThread();
  const leaving = new AbortController();
  const left = pool.speak(scriptOf({ text: LONG_TEXT }), leaving.signal);
  await left.next();
  const others = Array.from({ length: 9 }, (_, at) => speakAll(pool, { seed: BigInt(at) }));
  leaving.abort(new Error("gone"));
  await assert.rejects(left.next(), /gone/);
  for (const { report } of await within("all others", Promise.all(others))) {
    assert.equal(report.stop, "finished");
  }
  await pool.close();
});
