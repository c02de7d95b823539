import assert from "node:assert/strict";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { SpeechFailedError } from "../../src/core/speech-model.ts";
import { createWorkerPool } from "../../src/workers/worker-pool.ts";
import { drain, LONG_TEXT, never, scriptOf, speakAll } from "../core/scripts.ts";
import { speechModelConformance } from "../core/speech-model-conformance.ts";
import { CSM } from "../engines/codec-lm/goldens.ts";
import { within } from "../waiting.ts";
import { closePools, openPool } from "./faulty-pool.ts";

afterEach(closePools);

const entry = new URL("./ending-codec-lm.js", import.meta.url);
const create = { folder: join(CSM, "csm-tiny"), places: 4 };

const options = { entry, create, size: 1, isBatching: true };

// It reports no word times.
speechModelConformance("a codec language model in a thread", () => createWorkerPool(options), ["tellsWords"]);

test("a codec language model's thread killed midway fails its utterances and is replaced", async () => {
  const pool = await openPool(options);
  const spoken = [1n, 2n, 3n].map((seed) => pool.speak(scriptOf({ text: LONG_TEXT, seed }), never()));
  await Promise.all(spoken.map((speech) => speech.next()));
  const failures = spoken.map((speech) => assert.rejects(drain(speech), SpeechFailedError));
  await Promise.all([pool.terminateOne(), ...failures]);
  assert.equal((await speakAll(pool)).report.stop, "finished");
  assert.equal(pool.stats().replaced, 1);
});

test("more utterances than slots are open at once, one leaves, and the others finish", async () => {
  const pool = await openPool(options);
  const leaving = new AbortController();
  const left = pool.speak(scriptOf({ text: LONG_TEXT }), leaving.signal);
  await left.next();
  const others = Array.from({ length: 9 }, (_, at) => speakAll(pool, { seed: BigInt(at) }));
  leaving.abort(new Error("gone"));
  await assert.rejects(left.next(), /gone/);
  for (const { report } of await within("all others", Promise.all(others))) {
    assert.equal(report.stop, "finished");
  }
});
