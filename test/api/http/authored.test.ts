import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { WriterError } from "../../../src/core/writer.ts";
import { until, within } from "../../waiting.ts";
import { ScriptedWriter } from "../../writers/scripted-writer.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { eventOf, pcmOf, pcmOfEvents, type Reply, readEvents, type SentEvent } from "./wire.ts";

const CONVERSATION = [{ speaker: "0", text: "How was the trip?" }, { speaker: "1" }];
const SENTENCES = ["It was wonderful.", "We saw the sea."];

let server: TestServer | null = null;
afterEach(async () => {
  await server?.stop();
  server = null;
});

async function serve(writer: ScriptedWriter, flags: Record<string, string> = {}): Promise<TestServer> {
  server = await startTestServer({ writer, flags });
  return server;
}

/** Waits for a stream's first audio; what it gives reads on to the end, for the last event. */
async function begunStream(response: Reply): Promise<() => Promise<SentEvent>> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("event: audio")) {
    const step = await within("the first audio", reader.read());
    assert.ok(!step.done, text);
    text += step.value;
  }
  return async () => {
    for (let step = await reader.read(); !step.done; step = await reader.read()) text += step.value;
    return eventOf(text.trim().split("\n\n").at(-1)!);
  };
}

test("an open turn is written and spoken, and the reply's text is what was said", async () => {
  const writer = new ScriptedWriter(SENTENCES);
  const { post } = await serve(writer);
  const response = await post("/v1/converse", { conversation: CONVERSATION });
  const reply = await response.json();
  assert.equal(response.status, 200);
  assert.equal(reply.reply.text, SENTENCES.join(" "));
  assert.equal(reply.reply.speaker, "1");
  const words: { word: string; offset: number }[] = reply.meta.words;
  assert.deepEqual(
    words.map(({ word }) => word),
    ["It", "was", "wonderful", "We", "saw", "the", "sea"],
  );
  for (const { word, offset } of words) assert.ok(reply.reply.text.startsWith(word, offset), word);
  assert.ok(pcmOf(reply.reply.audio.data_b64).length > 0);
  const [dialogue] = writer.dialogues;
  assert.equal(dialogue?.speaker, "1");
  assert.deepEqual(dialogue?.history, [{ speaker: "0", text: "How was the trip?", audio: null }]);
});

test("the stream speaks the same words in the same samples, and its end holds them", async () => {
  const { post } = await serve(new ScriptedWriter(SENTENCES));
  const body = { conversation: CONVERSATION, params: { temperature: 0 } };
  const whole = await (await post("/v1/converse", body)).json();
  const events = await readEvents(await post("/v1/converse/stream", body));
  assert.equal(events.at(-1)?.event, "end");
  assert.equal(events.at(-1)?.data.text, whole.reply.text);
  assert.deepEqual(pcmOfEvents(events), pcmOf(whole.reply.audio.data_b64));
});

test("the reply tells who wrote, how many tokens it took, when the first sentence came and that no gate stood in", async () => {
  const { post } = await serve(new ScriptedWriter(SENTENCES));
  const { meta } = await (await post("/v1/converse", { conversation: CONVERSATION })).json();
  const { first_sentence_ms: firstMs, ...rest } = meta.writer;
  const nothing = { gate: null, layer: null, instructions: null };
  assert.deepEqual(rest, { name: "scripted", prompt_tokens: 4, written_tokens: 7, ...nothing });
  assert.ok(firstMs >= 0 && firstMs <= meta.first_audio_ms, `${firstMs} of ${meta.first_audio_ms} ms`);
});

test("a reply that the gate gave names its kind", async () => {
  const { post } = await serve(new ScriptedWriter(["I'm glad you told me."], { gate: "self-harm" }));
  const { meta } = await (await post("/v1/converse", { conversation: CONVERSATION })).json();
  assert.equal(meta.writer.gate, "self-harm");
});

test("given words have no writer in their meta, and none is asked", async () => {
  const writer = new ScriptedWriter(SENTENCES);
  const { post } = await serve(writer);
  const reply = await (
    await post("/v1/converse", { conversation: [{ speaker: "0", text: "Hello." }] })
  ).json();
  assert.equal("writer" in reply.meta, false);
  assert.equal(writer.dialogues.length, 0);
});

test("speech begins with the first sentence, while the next is still being written", async () => {
  const writer = new ScriptedWriter(SENTENCES, { isStepwise: true });
  const { post } = await serve(writer);
  writer.allow();
  const lastEvent = await begunStream(await post("/v1/converse/stream", { conversation: CONVERSATION }));
  assert.equal(writer.open, 1, "the second sentence is not written yet");
  writer.allow();
  assert.equal((await lastEvent()).data.text, SENTENCES.join(" "));
});

test("max_new_tokens stops the audio, and the text ends where the audio did", async () => {
  const writer = new ScriptedWriter(
    Array.from({ length: 40 }, (_, index) => `This is sentence number ${index}.`),
  );
  const { post } = await serve(writer);
  const body = { conversation: CONVERSATION, params: { max_new_tokens: 16 } };
  const { reply, meta, usage } = await (await post("/v1/converse", body)).json();
  assert.equal(meta.stop, "length");
  assert.equal(usage.output_audio_seconds, 16 * 0.08);
  assert.ok(reply.text.length < 200, reply.text);
  assert.equal(reply.text, reply.text.trim());
  await writer.idle();
});

test("a writer that fails before its first sentence is a 502 with its own time to retry, and nothing is metered", async () => {
  const writer = new ScriptedWriter(SENTENCES);
  writer.fail(
    new WriterError("the chat endpoint is not there: check writer.baseUrl", { retryAfterMs: 3_000 }),
  );
  const { post, get } = await serve(writer);
  for (const path of ["/v1/converse", "/v1/converse/stream"]) {
    const response = await post(path, { conversation: CONVERSATION });
    const { error } = await response.json();
    assert.equal(response.status, 502);
    assert.equal(error.type, "inference_error");
    assert.match(error.message, /check writer\.baseUrl/);
    assert.equal(response.headers.get("retry-after"), "3");
  }
  assert.equal((await (await get("/v1/usage")).json()).requests, 0);
});

test("a writer that has no hope in waiting still gives a time to retry", async () => {
  const writer = new ScriptedWriter(SENTENCES);
  writer.fail(new WriterError("the chat endpoint refused the key: check it"));
  const { post } = await serve(writer);
  const response = await post("/v1/converse", { conversation: CONVERSATION });
  assert.equal(response.status, 502);
  assert.ok(Number(response.headers.get("retry-after")) >= 1);
});

test("a writer that fails in mid-reply ends the stream with an error event, after the audio that was made", async () => {
  const writer = new ScriptedWriter(SENTENCES, { isStepwise: true });
  const { post } = await serve(writer);
  writer.allow();
  const lastEvent = await begunStream(await post("/v1/converse/stream", { conversation: CONVERSATION }));
  writer.fail();
  const last = await lastEvent();
  assert.equal(last.event, "error");
  assert.equal(last.data.type, "inference_error");
});

test("a client that leaves while its reply is being written stops the writer, and is not metered", async () => {
  const writer = new ScriptedWriter(SENTENCES, { isStepwise: true });
  const { url, key, get } = await serve(writer);
  const leaving = new AbortController();
  const gone = fetch(`${url}/v1/converse`, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ conversation: CONVERSATION }),
    signal: leaving.signal,
  });
  await writer.asked(1);
  leaving.abort();
  await assert.rejects(gone);
  await writer.idle();
  assert.equal((await (await get("/v1/usage")).json()).requests, 0);
});

test("a writer that never comes to its first sentence is given up after the time of a load", async () => {
  const writer = new ScriptedWriter(SENTENCES, { isStepwise: true });
  const { post } = await serve(writer, { loadTimeoutMs: "300" });
  const response = await post("/v1/converse/stream", { conversation: CONVERSATION });
  assert.equal(response.status, 502);
  assert.match((await response.json()).error.message, /writer took too long/);
  await until("the writer to stop", () => writer.open === 0);
});

test("a stopping server lets a reply that is being written finish", async () => {
  const writer = new ScriptedWriter(SENTENCES, { isStepwise: true });
  const running = await serve(writer);
  const reply = running.post("/v1/converse", { conversation: CONVERSATION });
  await writer.asked(1);
  const stopped = running.stop();
  writer.allow(2);
  assert.equal((await reply).status, 200);
  await stopped;
  assert.ok(writer.isClosed);
});
