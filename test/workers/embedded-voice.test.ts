import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createParametricModel } from "../../src/engines/parametric/model.ts";
import { loadTextTables } from "../../src/text/tables.ts";
import { createWorkerPool } from "../../src/workers/worker-pool.ts";
import { bytesOf, LONG_TEXT, speakAll } from "../model/scripts.ts";
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
