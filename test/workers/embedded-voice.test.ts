import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createParametricModel } from "../../src/engines/parametric/model.ts";
import { SpeechFailedError } from "../../src/model/speech-model.ts";
import { loadTextTables } from "../../src/text/tables.ts";
import { createWorkerPool } from "../../src/workers/worker-pool.ts";
import { bytesOf, drain, LONG_TEXT, never, scriptOf, speakAll } from "../model/scripts.ts";
import { speechModelConformance } from "../model/speech-model-conformance.ts";

const entry = new URL("../../src/engines/parametric/model.js", import.meta.url);
const voiceDir = fileURLToPath(new URL("../../../voices/heart", import.meta.url));
const create = { voiceDir, tables: await loadTextTables(voiceDir) };

speechModelConformance("the embedded voice in a thread", () => createWorkerPool({ entry, create, size: 1 }));

test("the embedded voice says the same in a thread, byte for byte, as without one", async () => {
  const pool = await createWorkerPool({ entry, create, size: 1 });
  const model = await createParametricModel(create);
  const [inThread, direct] = [
    await speakAll(pool, { text: LONG_TEXT }),
    await speakAll(model, { text: LONG_TEXT }),
  ];
  assert.ok(bytesOf(inThread.frames).equals(bytesOf(direct.frames)));
  assert.deepEqual(inThread.report, direct.report);
  await Promise.all([pool.close(), model.close()]);
});

test("the embedded voice's thread can be killed in mid-sentence, and another speaks in its place", async () => {
  const pool = await createWorkerPool({ entry, create, size: 1 });
  for (let round = 0; round < 3; round++) {
    const speech = pool.speak(scriptOf({ text: LONG_TEXT }), never());
    await speech.next();
    await Promise.all([pool.terminateOne(), assert.rejects(drain(speech), SpeechFailedError)]);
  }
  assert.equal((await speakAll(pool)).report.stop, "finished");
  assert.equal(pool.stats().replaced, 3);
  await pool.close();
});
