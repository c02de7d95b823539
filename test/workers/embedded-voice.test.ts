import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Turn } from "../../src/core/conversation.ts";
import { SpeechFailedError } from "../../src/core/speech-model.ts";
import { createParametricModel } from "../../src/engines/embedded/model.ts";
import { loadTextTables } from "../../src/text/tables/text-tables.ts";
import { createWorkerPool } from "../../src/workers/worker-pool.ts";
import { bytesOf, drain, LONG_TEXT, never, scriptOf, speakAll } from "../core/scripts.ts";
import { speechModelConformance } from "../core/speech-model-conformance.ts";
import { closePools, openPool, REPORT } from "./faulty-pool.ts";

afterEach(closePools);

const entry = new URL("../../src/engines/embedded/model.js", import.meta.url);
const voiceDir = fileURLToPath(new URL("../../../voices/heart", import.meta.url));
const create = { voiceDir, tables: await loadTextTables(voiceDir) };

speechModelConformance("the embedded voice in a thread", () => createWorkerPool({ entry, create, size: 1 }));

test("the embedded voice yields the same bytes in a thread", async () => {
  const pool = await openPool({ entry, create, size: 1 });
  const model = await createParametricModel(create);
  const [inThread, direct] = [
    await speakAll(pool, { text: LONG_TEXT }),
    await speakAll(model, { text: LONG_TEXT }),
  ];
  assert.ok(bytesOf(inThread.frames).equals(bytesOf(direct.frames)));
  assert.deepEqual(inThread.report, direct.report);
  await model.close();
});

test("open utterances continue while the embedded voice analyses 30 s of audio", async () => {
  const pool = await openPool({ entry, create, size: 1 });
  const { frames } = await speakAll(pool, { text: LONG_TEXT, speaker: "1" });
  const said = frames.flatMap((frame) => [...frame.samples]);
  const samples = Float32Array.from({ length: 720_000 }, (_, at) => said[at % said.length]!);
  const audio = { samples, sampleRateHz: 24_000, durationS: 30, digest: "30 s" };
  const open = pool.speak(
    scriptOf({ text: `${LONG_TEXT} `.repeat(12), delivery: { maxFrames: 2_048 } }),
    never(),
  );
  await open.next();
  let given = 0;
  let isListening = true;
  const history: Turn[] = [{ speaker: "0", text: null, audio }];
  const listener = pool.speak(scriptOf({ history }), never());
  const first = listener.next().then((step) => {
    isListening = false;
    return step;
  });
  while (isListening && !(await open.next()).done) given += 1;
  assert.equal((await first).done, false);
  assert.ok(given >= 40, `${given} frames of the one before the first of the other`);
  await Promise.all([open.return(REPORT), listener.return(REPORT)]);
});

test("the embedded voice's thread can be killed midway and is replaced", async () => {
  const pool = await openPool({ entry, create, size: 1 });
  for (let round = 0; round < 3; round++) {
    const speech = pool.speak(scriptOf({ text: LONG_TEXT }), never());
    await speech.next();
    await Promise.all([pool.terminateOne(), assert.rejects(drain(speech), SpeechFailedError)]);
  }
  assert.equal((await speakAll(pool)).report.stop, "finished");
  assert.equal(pool.stats().replaced, 3);
});
