import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { encodeWav } from "../../../src/audio/encode-wav.ts";
import { RecogniserError } from "../../../src/core/recogniser.ts";
import { ScriptedRecogniser, segmentOf } from "../../recognition/scripted-recogniser.ts";
import { until } from "../../waiting.ts";
import { ScriptedWriter } from "../../writers/scripted-writer.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { transcribe } from "./transcription-form.ts";
import type { Reply } from "./wire.ts";

let server: TestServer;
let recogniser: ScriptedRecogniser;
let writer: ScriptedWriter;
beforeEach(async () => {
  recogniser = new ScriptedRecogniser([segmentOf("I am not well.", 0)]);
  writer = new ScriptedWriter(["I am sorry to hear that."]);
  server = await startTestServer({ recogniser, writer, flags: { queueWaitMs: "100" } });
});
afterEach(() => server.stop());

/** A second of sound, another one for each number. */
function clip(number: number): string {
  const samples = Int16Array.from({ length: 16_000 }, (_, at) => 8_000 * Math.sin(at / (9 + number)));
  return Buffer.from(encodeWav(samples, 16_000)).toString("base64");
}

function answered(number: number, headers?: Record<string, string>): Promise<Reply> {
  const conversation = [{ speaker: "0", audio_wav_b64: clip(number) }, { speaker: "1" }];
  return server.post("/v1/converse", { conversation }, headers);
}

describe("turns that are sound alone", () => {
  test("of one clip at once are heard once, and the writer is given the words each time", async () => {
    recogniser.hold();
    const replies = [answered(1), answered(1), answered(1)];
    await until("the clip to be heard", () => recogniser.clips.length === 1);
    assert.equal(await server.metric("turns_hearing"), 1);
    recogniser.release();
    for (const reply of await Promise.all(replies)) {
      const { meta } = await reply.json();
      assert.equal(reply.status, 200);
      assert.deepEqual([meta.heard[0].text, meta.heard[0].problem], ["I am not well.", undefined]);
    }
    assert.equal(recogniser.clips.length, 1);
    for (const { history } of writer.dialogues) assert.equal(history[0]?.text, "I am not well.");
    assert.equal(await server.metric("turns_hearing"), 0);
  });

  test("for which there is no place are refused, and nobody answers as though nothing were said", async () => {
    recogniser.hold();
    const first = answered(1);
    await until("the first clip", () => recogniser.clips.length === 1);
    const refused = await answered(2);
    const { error } = await refused.json();
    assert.equal(refused.status, 502);
    assert.match(error.message, /^the server is at its capacity \(turns being heard\): retry/);
    assert.equal(refused.headers.get("retry-after"), "1");
    assert.equal(writer.dialogues.length, 0);
    recogniser.release();
    assert.equal((await first).status, 200);
  });

  test("need not wait for another key's, nor for recordings to transcribe", async () => {
    recogniser.hold();
    const other = await server.another();
    const all = [transcribe(server), transcribe(server, {}, { headers: other.auth })];
    await until("both recordings", () => recogniser.clips.length === 2);
    all.push(answered(1));
    await until("the first key's turn", () => recogniser.clips.length === 3);
    all.push(answered(2, other.auth));
    await until("the other key's turn", () => recogniser.clips.length === 4);
    recogniser.release();
    for (const reply of await Promise.all(all)) assert.equal(reply.status, 200);
  });

  test("that the recogniser fails over are answered without words, and it is said", async () => {
    recogniser.fail(new RecogniserError("the recogniser is resting"));
    const reply = await answered(1);
    const { meta } = await reply.json();
    assert.equal(reply.status, 200);
    assert.deepEqual([meta.heard[0].text, meta.heard[0].problem], [null, "the recogniser is resting"]);
    assert.equal(writer.dialogues[0]?.history[0]?.text, null);
  });
});
