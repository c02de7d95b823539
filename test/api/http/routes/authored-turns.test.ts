import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it, type TestContext, test } from "node:test";
import pino from "pino";
import { encodeWav } from "../../../../src/audio/encode-wav.ts";
import { RecogniserError } from "../../../../src/core/recogniser.ts";
import { WriterError } from "../../../../src/core/writer.ts";
import { ScriptedRecogniser, segmentOf } from "../../../recognition/scripted-recogniser.ts";
import { until, within } from "../../../waiting.ts";
import { ChatServer } from "../../../writers/chat/chat-server.ts";
import { ScriptedWriter } from "../../../writers/scripted-writer.ts";
import { RealtimeClient } from "../../realtime/client.ts";
import { ScriptedDetector } from "../../realtime/scripted-detector.ts";
import { writerAt } from "../chat-writer.ts";
import { transcribe } from "../forms.ts";
import { startForTest, startTestServer, type TestServer } from "../start.ts";
import { eventOf, pcmOf, pcmOfEvents, type Reply, readEvents, type SentEvent } from "../wire.ts";

describe("An authored turn", () => {
  const CONVERSATION = [{ speaker: "0", text: "How was the trip?" }, { speaker: "1" }];
  const BODY = { conversation: CONVERSATION };
  const SENTENCES = ["It was wonderful.", "We saw the sea."];

  const serve = (t: TestContext, writer: ScriptedWriter, flags: Record<string, string> = {}) =>
    startForTest(t, { writer, flags });
  const stepwise = () => new ScriptedWriter(SENTENCES, { isStepwise: true });
  const metaFrom = async ({ post }: TestServer, conversation: readonly object[] = CONVERSATION) =>
    (await (await post("/v1/converse", { conversation })).json()).meta;

  /** Waits for a stream's first audio. The returned function reads on to its last event. */
  async function afterFirstAudio({ post }: TestServer): Promise<() => Promise<SentEvent>> {
    const response: Reply = await post("/v1/converse/stream", BODY);
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

  test("is written and spoken, and the reply has its text", async (t) => {
    const writer = new ScriptedWriter(SENTENCES);
    const { post } = await serve(t, writer);
    const response = await post("/v1/converse", BODY);
    const { reply, meta } = await response.json();
    assert.equal(response.status, 200);
    assert.deepEqual([reply.text, reply.speaker], [SENTENCES.join(" "), "1"]);
    const words: { word: string; offset: number }[] = meta.words;
    assert.deepEqual(
      words.map(({ word }) => word),
      ["It", "was", "wonderful", "We", "saw", "the", "sea"],
    );
    for (const { word, offset } of words) assert.ok(reply.text.startsWith(word, offset), word);
    assert.ok(pcmOf(reply.audio.data_b64).length > 0);
    const [dialogue] = writer.dialogues;
    assert.equal(dialogue?.speaker, "1");
    assert.deepEqual(dialogue?.history, [{ speaker: "0", text: "How was the trip?", audio: null }]);
  });

  test("streams the same samples and ends with the text", async (t) => {
    const { post } = await serve(t, new ScriptedWriter(SENTENCES));
    const body = { ...BODY, params: { temperature: 0 } };
    const whole = await (await post("/v1/converse", body)).json();
    const events = await readEvents(await post("/v1/converse/stream", body));
    assert.equal(events.at(-1)?.event, "end");
    assert.equal(events.at(-1)?.data.text, whole.reply.text);
    assert.deepEqual(pcmOfEvents(events), pcmOf(whole.reply.audio.data_b64));
  });

  test("reports the writer, its tokens, its gate and the time of the first sentence", async (t) => {
    const meta = await metaFrom(await serve(t, new ScriptedWriter(SENTENCES)));
    const { first_sentence_ms: firstMs, ...rest } = meta.writer;
    const nothing = { gate: null, layer: null, instructions: null };
    assert.deepEqual(rest, { name: "scripted", prompt_tokens: 4, written_tokens: 7, ...nothing });
    assert.ok(firstMs >= 0 && firstMs <= meta.first_audio_ms, `${firstMs} of ${meta.first_audio_ms} ms`);
    const gated = await serve(t, new ScriptedWriter(["I'm glad you told me."], { gate: "self-harm" }));
    assert.equal((await metaFrom(gated)).writer.gate, "self-harm");
  });

  test("reports no writer when the text is given", async (t) => {
    const writer = new ScriptedWriter(SENTENCES);
    const meta = await metaFrom(await serve(t, writer), [{ speaker: "0", text: "Hello." }]);
    assert.equal("writer" in meta, false);
    assert.equal(writer.dialogues.length, 0);
  });

  test("speaks the first sentence while the next is written", async (t) => {
    const writer = stepwise();
    writer.allow();
    const lastEvent = await afterFirstAudio(await serve(t, writer));
    assert.equal(writer.open, 1, "the second sentence is not written yet");
    writer.allow();
    assert.equal((await lastEvent()).data.text, SENTENCES.join(" "));
  });

  test("ends its text where max_new_tokens ends the audio", async (t) => {
    const writer = new ScriptedWriter(
      Array.from({ length: 40 }, (_, at) => `This is sentence number ${at}.`),
    );
    const { post } = await serve(t, writer);
    const body = { ...BODY, params: { max_new_tokens: 16 } };
    const { reply, meta, usage } = await (await post("/v1/converse", body)).json();
    assert.deepEqual([meta.stop, usage.output_audio_seconds], ["length", 16 * 0.08]);
    assert.ok(reply.text.length < 200, reply.text);
    assert.equal(reply.text, reply.text.trim());
    await writer.idle();
  });

  for (const [what, retryAfterMs, retryAfter] of [
    ["the writer's", 3_000, "3"],
    ["a default", undefined, "1"],
  ] as const)
    test(`returns 502 with ${what} Retry-After, unmetered, when the writer fails`, async (t) => {
      const writer = new ScriptedWriter(SENTENCES);
      const options = retryAfterMs === undefined ? {} : { retryAfterMs };
      writer.fail(new WriterError("the chat endpoint is not there: check writer.baseUrl", options));
      const { post, usage } = await serve(t, writer);
      for (const path of ["/v1/converse", "/v1/converse/stream"]) {
        const response = await post(path, BODY);
        const { error } = await response.json();
        assert.deepEqual([response.status, error.type], [502, "inference_error"]);
        assert.match(error.message, /check writer\.baseUrl/);
        assert.ok(Number(response.headers.get("retry-after")) >= Number(retryAfter));
      }
      assert.equal((await usage()).requests, 0);
    });

  test("ends a stream with an error event when the writer fails midway", async (t) => {
    const writer = stepwise();
    writer.allow();
    const lastEvent = await afterFirstAudio(await serve(t, writer));
    writer.fail();
    const { event, data } = await lastEvent();
    assert.deepEqual([event, data.type], ["error", "inference_error"]);
  });

  test("stops the writer, unmetered, when the client leaves", async (t) => {
    const writer = stepwise();
    const { post, usage } = await serve(t, writer);
    const leaving = new AbortController();
    const reply = post("/v1/converse", BODY, {}, leaving.signal);
    await writer.asked(1);
    leaving.abort();
    await assert.rejects(reply);
    await writer.idle();
    assert.equal((await usage()).requests, 0);
  });

  test("returns 502 when the writer exceeds the load timeout", async (t) => {
    const writer = stepwise();
    const { post } = await serve(t, writer, { loadTimeoutMs: "300" });
    const response = await post("/v1/converse/stream", BODY);
    assert.equal(response.status, 502);
    assert.match((await response.json()).error.message, /writer took too long/);
    await until("the writer to stop", () => writer.open === 0);
  });

  test("finishes while the server stops", async () => {
    const writer = stepwise();
    const { post, stop } = await startTestServer({ writer });
    const reply = post("/v1/converse", BODY);
    await writer.asked(1);
    const stopped = stop();
    writer.allow(2);
    assert.equal((await reply).status, 200);
    await stopped;
    assert.ok(writer.isClosed);
  });
});

describe("Instructions", () => {
  const CONVERSATION = [{ speaker: "0", text: "Have you got a table?" }, { speaker: "1" }];
  const OWN_TEXT = [CONVERSATION[0]!, { speaker: "1", text: "At eight." }];
  const ANN = "You are Ann, at the desk of the Zanzibarbados Fork.";

  const lines: string[] = [];
  const logger = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
  const writer = new ScriptedWriter(["At eight.", "And at nine."], { readsInstructions: true });
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ writer, logger });
  });
  after(() => server.stop());

  async function converse(fields: object, conversation: readonly object[] = CONVERSATION) {
    const response = await server.post("/v1/converse", {
      conversation,
      params: { temperature: 0 },
      ...fields,
    });
    const body = await response.json();
    assert.equal(response.status, 200, JSON.stringify(body));
    return body;
  }

  async function refused(fields: object, status: number, message: RegExp): Promise<void> {
    for (const conversation of [CONVERSATION, OWN_TEXT]) {
      for (const path of ["/v1/converse", "/v1/converse/stream"]) {
        const reply = await server.post(path, { conversation, ...fields });
        const { error } = await reply.json();
        assert.equal(reply.status, status, path);
        assert.equal(error.type, "invalid_request");
        assert.match(error.message, message);
      }
    }
  }

  it("reach the writer unchanged, from /v1/converse and from its stream", async () => {
    const { meta } = await converse({ instructions: ANN });
    assert.equal(writer.dialogues.at(-1)?.instructions, ANN);
    assert.equal(meta.writer.instructions, "read");
    const fields = { conversation: CONVERSATION, instructions: `${ANN} Be curt.` };
    const events = await readEvents(await server.post("/v1/converse/stream", fields));
    assert.equal(writer.dialogues.at(-1)?.instructions, `${ANN} Be curt.`);
    assert.equal(events.at(-1)?.data.meta.writer.instructions, "read");
  });

  it("are absent when omitted or blank", async () => {
    for (const fields of [{}, { instructions: "" }, { instructions: " \n\t" }]) {
      const { meta } = await converse(fields);
      assert.equal(meta.writer.instructions, null);
      assert.equal("instructions" in writer.dialogues.at(-1)!, false);
    }
  });

  it("are refused with 400 above 2,000 characters", async () => {
    await converse({ instructions: "𝒳".repeat(2_000) });
    for (const [chars, shown] of [
      [2_001, "2001"],
      [8_000, "8000"],
      [200_000, "\\d+"],
    ] as const) {
      const message = new RegExp(`^instructions has ${shown} characters, and at most 2000 are allowed`);
      await refused({ instructions: "x".repeat(chars) }, 400, message);
    }
    const { limits } = await (await server.get("/v1/info")).json();
    assert.equal(limits.max_instructions_chars, 2_000);
  });

  it("are refused with 422 unless they are a string", async () => {
    for (const instructions of [null, 7, ["Be curt."], { a: "b" }])
      await refused({ instructions }, 422, /^instructions must be a string$/);
  });

  it("are neither billed nor audible", async () => {
    const [plain, instructed] = [await converse({}), await converse({ instructions: ANN })];
    assert.deepEqual(instructed.usage, plain.usage);
    assert.deepEqual(instructed.reply, plain.reply);
  });

  it("have no effect when the text is given", async () => {
    const before = writer.dialogues.length;
    const { reply, meta } = await converse({ instructions: ANN }, OWN_TEXT);
    assert.deepEqual(reply, (await converse({}, OWN_TEXT)).reply);
    assert.equal("writer" in meta, false);
    const speech = { text: "At eight.", instructions: "x".repeat(9_000) };
    assert.equal((await server.post("/v1/tts", speech)).status, 200, "an unknown field");
    assert.equal(writer.dialogues.length, before);
  });

  it("are reported as ignored by a writer without them, or when the gate answers", async (t) => {
    for (const [options, gate] of [
      [{}, null],
      [{ gate: "medical" }, "medical"],
    ] as const) {
      const other = await startForTest(t, { writer: new ScriptedWriter(["I see."], options) });
      const body = { conversation: CONVERSATION, instructions: ANN };
      const { meta } = await (await other.post("/v1/converse", body)).json();
      assert.deepEqual([meta.writer.instructions, meta.writer.gate], ["ignored", gate]);
    }
  });

  it("never reach the log", async () => {
    const path = "/v1/converse";
    await server.post(path, { conversation: CONVERSATION, instructions: ANN.repeat(60) });
    await server.post(path, { conversation: CONVERSATION, instructions: [ANN] });
    const failing = new ScriptedWriter([]);
    failing.fail(new Error("unforeseen"));
    const other = await startTestServer({ writer: failing, logger });
    const reply = await other.post(path, { conversation: CONVERSATION, instructions: ANN });
    assert.ok(reply.status >= 500);
    await other.stop();
    const log = lines.join("");
    assert.match(log, /"route":"\/v1\/converse"/);
    assert.doesNotMatch(log, /Zanzibarbados/);
  });
});

describe("A turn with audio alone", () => {
  let server: TestServer;
  let recogniser: ScriptedRecogniser;
  let writer: ScriptedWriter;
  beforeEach(async () => {
    recogniser = new ScriptedRecogniser([segmentOf("I am not well.", 0)]);
    writer = new ScriptedWriter(["I am sorry to hear that."]);
    server = await startTestServer({ recogniser, writer, flags: { queueWaitMs: "100" } });
  });
  afterEach(() => server.stop());

  /** A second of audio, different for each number. */
  function clip(number: number): string {
    const samples = Int16Array.from({ length: 16_000 }, (_, at) => 8_000 * Math.sin(at / (9 + number)));
    return Buffer.from(encodeWav(samples, 16_000)).toString("base64");
  }

  function answer(number: number, headers?: Record<string, string>): Promise<Reply> {
    const conversation = [{ speaker: "0", audio_wav_b64: clip(number) }, { speaker: "1" }];
    return server.post("/v1/converse", { conversation }, headers);
  }

  test("is transcribed once when it arrives several times at once", async () => {
    recogniser.hold();
    const replies = [answer(1), answer(1), answer(1)];
    await until("the clip to be transcribed", () => recogniser.clips.length === 1);
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

  test("is refused when no slot is free", async () => {
    recogniser.hold();
    const first = answer(1);
    await until("the first clip", () => recogniser.clips.length === 1);
    const refused = await answer(2);
    const { error } = await refused.json();
    assert.equal(refused.status, 502);
    assert.match(error.message, /^the server is at its capacity \(turns being heard\): retry/);
    assert.equal(refused.headers.get("retry-after"), "1");
    assert.equal(writer.dialogues.length, 0);
    recogniser.release();
    assert.equal((await first).status, 200);
  });

  test("waits for no other key, nor for transcriptions", async () => {
    recogniser.hold();
    const other = await server.another();
    const all = [transcribe(server), transcribe(server, {}, { headers: other.auth })];
    await until("both recordings", () => recogniser.clips.length === 2);
    all.push(answer(1));
    await until("the first key's turn", () => recogniser.clips.length === 3);
    all.push(answer(2, other.auth));
    await until("the other key's turn", () => recogniser.clips.length === 4);
    recogniser.release();
    for (const reply of await Promise.all(all)) assert.equal(reply.status, 200);
  });

  test("is answered without its words when the recogniser fails", async () => {
    recogniser.fail(new RecogniserError("the recogniser is resting"));
    const reply = await answer(1);
    const { meta } = await reply.json();
    assert.equal(reply.status, 200);
    assert.deepEqual([meta.heard[0].text, meta.heard[0].problem], [null, "the recogniser is resting"]);
    assert.equal(writer.dialogues[0]?.history[0]?.text, null);
  });
});

describe("The text of a cleaned reply", () => {
  const WRITTEN = "*nods* I've booked it. **Ring** 020 7946 0018 \u{1f44d} before six.";
  const SPOKEN = "I've booked it. Ring 020 7946 0018 before six.";
  const ASKED = "What number do I ring?";
  const BODY = { conversation: [{ speaker: "0", text: ASKED }, { speaker: "1" }] };

  let endpoint: ChatServer;
  let server: TestServer;
  before(async () => {
    endpoint = await ChatServer.open((exchange) => exchange.begin().say(WRITTEN).finish());
    server = await startTestServer({ writer: writerAt(endpoint), detector: new ScriptedDetector() });
  });
  after(async () => {
    await server.stop();
    await endpoint.close();
  });

  test("is the same in a reply, in a stream's end and in word times", async () => {
    const { reply, meta } = await (await server.post("/v1/converse", BODY)).json();
    assert.equal(reply.text, SPOKEN);
    for (const { word, offset } of meta.words) assert.ok(SPOKEN.startsWith(word, offset), word);
    const events = await readEvents(await server.post("/v1/converse/stream", BODY));
    const end = events.find(({ event }) => event === "end");
    assert.equal((end?.data as { text?: string } | undefined)?.text, SPOKEN);
  });

  test("is the same in a realtime transcript and in its item", async () => {
    const client = await RealtimeClient.open(server);
    const content = [{ type: "input_text", text: ASKED }];
    client.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } });
    client.send({ type: "response.create" });
    assert.equal((await client.upTo("response.output_audio_transcript.done")).transcript, SPOKEN);
    assert.match(JSON.stringify((await client.upTo("response.done")).response), new RegExp(SPOKEN));
    client.socket.terminate();
  });
});
