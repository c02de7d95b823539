import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { until, within } from "../../../waiting.ts";
import { openRaw, rawRequest } from "../raw-socket.ts";
import { frameGate, startForTest, startTestServer } from "../start.ts";
import { parseEvents, pcmOf, pcmOfEvents, readEvents } from "../wire.ts";

const server = await startTestServer();
after(() => server.stop());

const still = { temperature: 0 };

test("POST /v1/tts returns a 24 kHz 16-bit mono WAV with text, usage and model", async () => {
  const response = await server.post("/v1/tts", { text: "Grüße 🎉 to you.", params: still });
  assert.equal(response.status, 200);
  const body = await response.json();
  const { request_id, model, text, audio, usage, meta } = body;
  assert.equal(request_id, response.headers.get("x-request-id"));
  assert.deepEqual([model, text], ["svc-beta-v0.3", "Grüße 🎉 to you."]);
  const { data_b64, ...format } = audio;
  assert.deepEqual(format, { ...format, sample_rate: 24_000, format: "wav", audio_quality: "high" });
  const wav = Buffer.from(data_b64, "base64");
  assert.equal(wav.toString("latin1", 0, 4) + wav.toString("latin1", 8, 12), "RIFFWAVE");
  assert.deepEqual([wav.readUInt32LE(24), wav.readUInt16LE(34)], [24_000, 16]);
  assert.equal(usage.input_chars, 15, "an emoji is one character");
  assert.equal(usage.output_audio_seconds, (wav.length - 44) / 48_000);
  assert.equal(meta.stop, "finished");
});

test("the three generation endpoints return the same samples at temperature 0", async () => {
  const text = "One way. Two ways. Three ways.";
  const tts = await (await server.post("/v1/tts", { text, params: still })).json();
  const conversation = [{ text }];
  const whole = await (await server.post("/v1/converse", { conversation, params: still })).json();
  const events = await readEvents(await server.post("/v1/converse/stream", { conversation, params: still }));
  const pcm = pcmOf(tts.audio.data_b64);
  assert.ok(pcm.length > 0);
  assert.ok(pcm.equals(pcmOf(whole.reply.audio.data_b64)));
  assert.ok(pcm.equals(pcmOfEvents(events)));
});

test("a conversation of named speakers reports the name, and sounds like that of their positions", async () => {
  const turns = ["Ben", "Anna"].map((speaker, at) => ({ speaker, text: `Turn ${at}.` }));
  const named = { conversation: turns, voices: { Anna: "onyx", Ben: "nova" }, params: still };
  const placed = turns.map((each, at) => ({ ...each, speaker: `${at}` }));
  const positional = { conversation: placed, voices: { "0": "nova", "1": "onyx" }, params: still };
  const reply = async (body: object) => (await (await server.post("/v1/converse", body)).json()).reply;
  const [own, other] = [await reply(named), await reply(positional)];
  assert.deepEqual([own.speaker, other.speaker], ["Anna", "1"]);
  assert.ok(pcmOf(own.audio.data_b64).equals(pcmOf(other.audio.data_b64)));
  const events = await readEvents(await server.post("/v1/converse/stream", named));
  assert.deepEqual([events[0]!.data.speaker, events.at(-1)!.data.speaker], ["Anna", "Anna"]);
  const { voices: _, ...unnamed } = named;
  const refused = await server.post("/v1/converse", unnamed);
  assert.equal(refused.status, 400);
  assert.match(
    (await refused.json()).error.message,
    /^conversation\[0\]\.speaker "Ben" is none of the model's/,
  );
});

test("two identical requests differ above temperature 0", async () => {
  const once = async () => (await (await server.post("/v1/tts", { text: "Again." })).json()).audio.data_b64;
  assert.notEqual(await once(), await once());
});

test("a stream has one meta event, audio in frames of 80 ms, and one end event with usage", async () => {
  const conversation = [
    { speaker: "0", text: "Hi." },
    { speaker: "1", text: "Hello to you too." },
  ];
  const response = await server.post("/v1/converse/stream", { conversation });
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.equal(response.headers.get("cache-control"), "no-cache, no-transform");
  assert.equal(response.headers.get("x-accel-buffering"), "no");
  assert.ok(response.headers.get("x-ratelimit-limit"));
  const events = await readEvents(response);
  const [meta, ...rest] = events;
  const end = rest.pop();
  assert.deepEqual(meta, {
    event: "meta",
    data: {
      request_id: response.headers.get("x-request-id"),
      model: "svc-beta-v0.3",
      speaker: "1",
      sample_rate: 24_000,
      format: "pcm_s16le",
      frame_samples: 1_920,
    },
  });
  for (const [index, { event, data }] of rest.entries()) {
    assert.deepEqual([event, data.index, data.sample_rate], ["audio", index, 24_000]);
    const bytes = Buffer.from(data.pcm_b64, "base64").length;
    assert.ok(index === rest.length - 1 ? bytes <= 3_840 : bytes === 3_840);
  }
  const { text, speaker, audio_seconds, usage } = end!.data;
  assert.deepEqual([end!.event, text, speaker], ["end", "Hello to you too.", "1"]);
  assert.equal(audio_seconds, pcmOfEvents(events).length / 48_000);
  assert.deepEqual([usage.input_chars, usage.output_audio_seconds], [20, audio_seconds]);
});

test("word times and offsets are the same in a reply and in a stream", async () => {
  const conversation = [{ text: "🎉 Two  words." }];
  const whole = await (await server.post("/v1/converse", { conversation, params: still })).json();
  const { words } = whole.meta;
  assert.deepEqual(
    words.map(({ word, offset, length }: Record<string, unknown>) => `${word} ${offset} ${length}`),
    ["Two 2 3", "words 7 5"],
  );
  assert.deepEqual([words[1].start, words[1].end], [0.42, 0.72]);
  const events = await readEvents(await server.post("/v1/converse/stream", { conversation, params: still }));
  const audio = events.filter(({ event }) => event === "audio");
  assert.deepEqual(
    audio.flatMap(({ data }) => data.words.map(() => data.index)),
    [1, 5],
    "each with the frame in which it begins",
  );
  assert.deepEqual(
    audio.flatMap(({ data }) => data.words),
    words,
  );
  assert.deepEqual(events.at(-1)?.data.meta.words, words);
  const refused = await server.post("/v1/tts", { text: "Two words.", visemes: "yes" });
  assert.equal(refused.status, 422);
  assert.match((await refused.json()).error.message, /^visemes must be/);
});

test("replies of any length and text are valid JSON", async () => {
  for (const text of ["a", "Hello \u0000base64\u0000 there", '"\\u0000base64\\u0000"', "word ".repeat(300)]) {
    for (const path of ["/v1/tts", "/v1/converse"]) {
      const response = await server.post(path, path === "/v1/tts" ? { text } : { conversation: [{ text }] });
      const body = await response.json();
      const said = path === "/v1/tts" ? body : body.reply;
      assert.equal(said.text, text);
      const wav = Buffer.from(said.audio.data_b64, "base64");
      assert.equal(wav.readUInt32LE(40), wav.length - 44);
      assert.ok(Math.abs((wav.length - 44) / 48_000 - body.usage.output_audio_seconds) < 1e-9);
    }
  }
});

test("max_new_tokens caps the audio and is reported in meta", async () => {
  const params = { max_new_tokens: 16 };
  const body = await (await server.post("/v1/tts", { text: "word ".repeat(200), params })).json();
  assert.equal(body.usage.output_audio_seconds, 16 * 0.08);
  assert.equal(body.meta.stop, "length");
});

test("GET /v1/usage sums what was metered and nothing else", async (t) => {
  const own = await startForTest(t);
  assert.deepEqual(await own.usage(), {
    key_id: own.keyId,
    requests: 0,
    input_chars: 0,
    input_audio_seconds: 0,
    output_audio_seconds: 0,
    last_request_ts: null,
  });
  const one = await (await own.post("/v1/tts", { text: "Hello." })).json();
  const conversation = [{ text: "Ünder" }, { speaker: "1", text: "Fine." }];
  const two = await (await own.post("/v1/converse", { conversation })).json();
  await own.post("/v1/tts", { text: "   " });
  await own.post("/v1/tts", {});
  const usage = await own.usage();
  assert.equal(usage.requests, 2);
  assert.equal(usage.input_chars, 16);
  const seconds = one.usage.output_audio_seconds + two.usage.output_audio_seconds;
  assert.ok(Math.abs(usage.output_audio_seconds - seconds) < 1e-9);
  assert.ok(Math.abs(usage.last_request_ts - Date.now() / 1_000) < 60);
});

test("an authored turn returns 502 with Retry-After without a writer", async () => {
  const response = await server.post("/v1/converse", { conversation: [{ speaker: "0" }] });
  assert.equal(response.status, 502);
  assert.equal((await response.json()).error.type, "inference_error");
  assert.ok(Number(response.headers.get("retry-after")) >= 1);
  assert.equal(response.headers.get("x-should-retry"), "true");
});

test("a reply that is cut reports it in a header, with the characters spoken", async () => {
  const text = "First it is one. Then it is two. Then it is three.";
  const params = { ...still, max_new_tokens: 16 };
  for (const [path, body] of [
    ["/v1/tts", { text, params }],
    ["/v1/converse", { conversation: [{ text }], params }],
  ] as const) {
    const cut = await server.post(path, body);
    assert.equal(cut.headers.get("x-antiphon-stop"), "length", path);
    const { meta } = await cut.json();
    assert.deepEqual([meta.stop, meta.spoken_characters], ["length", 33]);
    const whole = await server.post(path, { ...body, params: still });
    assert.equal(whole.headers.get("x-antiphon-stop"), null);
    assert.equal("spoken_characters" in (await whole.json()).meta, false);
  }
});

const STREAM = { conversation: [{ text: "word ".repeat(1_500) }], params: { max_new_tokens: 2_048 } };
const SHORT = { conversation: [{ text: "To the very end." }] };

test("a client that leaves a stream stops the engine and is metered for what was sent", async (t) => {
  let computed = 0;
  const server = await startForTest(t, { tone: { beforeFrame: () => void computed++ } });
  const { socket, received } = await openRaw(server);
  socket.write(rawRequest("/v1/converse/stream", server.key, STREAM));
  await until("the fourth frame", () => received().includes('"index":3,'));
  socket.destroy();
  await until("the stream's end", async () => (await server.begun()) === 0);
  const whenLeft = computed;
  await turn();
  assert.equal(computed, whenLeft, "no frame is computed after the client left");
  await until("the usage", async () => (await server.usage()).requests === 1);
  const usage = await server.usage();
  assert.equal(usage.input_chars, STREAM.conversation[0]!.text.length);
  assert.ok(usage.output_audio_seconds >= 4 * 0.08 && usage.output_audio_seconds < 2_048 * 0.08);
});

test("a client that does not read stops its synthesis in bounded memory", async (t) => {
  let computed = 0;
  const server = await startForTest(t, { tone: { beforeFrame: () => void computed++ } });
  const { socket } = await openRaw(server, { isIdle: true });
  socket.write(rawRequest("/v1/converse/stream", server.key, STREAM));
  let last = -1;
  // The sockets' buffers fill up; then no more frames may be computed.
  await until("full buffers", async () => {
    const before = computed;
    for (let i = 0; i < 20; i++) await (await server.get("/health", {})).text();
    last = computed;
    return last > 0 && last === before;
  });
  assert.ok(last < 2_048, `${last} frames were computed`);
  socket.destroy();
  await until("the stream's end", async () => (await server.begun()) === 0);
});

test("a failure returns 502 before the first frame, and an error event after it", async (t) => {
  const early = await startForTest(t, { tone: { failAtFrame: 0 } });
  const late = await startForTest(t, { tone: { failAtFrame: 3 } });
  const refused = await early.post("/v1/converse/stream", SHORT);
  assert.equal(refused.status, 502);
  assert.equal((await refused.json()).error.type, "inference_error");
  assert.ok(refused.headers.get("retry-after"));
  const response = await late.post("/v1/converse/stream", SHORT);
  assert.equal(response.status, 200);
  const events = await readEvents(response);
  assert.deepEqual(
    events.map(({ event }) => event),
    ["meta", "audio", "audio", "audio", "error"],
  );
  const { type, request_id } = events.at(-1)!.data;
  assert.deepEqual([type, request_id], ["inference_error", response.headers.get("x-request-id")]);
  for (const own of [early, late]) assert.equal((await own.usage()).requests, 0);
});

test("a quiet stream sends comments to stay alive", async (t) => {
  const gate = frameGate((index) => index === 2);
  const server = await startForTest(t, { flags: { heartbeatMs: "100" }, tone: gate.tone });
  const response = await server.post("/v1/converse/stream", SHORT);
  const reader = response.body?.getReader();
  let text = "";
  while (!text.includes(": keep-alive\n\n")) {
    const step = await within("a comment", reader!.read());
    assert.ok(!step.done, text);
    text += Buffer.from(step.value).toString();
  }
  gate.open();
  for (;;) {
    const step = await reader?.read();
    if (step === undefined || step.done) break;
    text += Buffer.from(step.value).toString();
  }
  assert.equal(parseEvents(text).at(-1)?.event, "end");
});

test("a request waits for a slot, and returns 502 with Retry-After over the queue's depth", async (t) => {
  const gate = frameGate();
  const server = await startForTest(t, { flags: { concurrency: "1", queueDepth: "1" }, tone: gate.tone });
  const speak = () => server.post("/v1/tts", { text: "Me." });
  const first = speak();
  await server.metricIs("active_streams", 1);
  const second = speak();
  await server.metricIs("queue_depth", 1);
  const third = await speak();
  assert.equal(third.status, 502);
  assert.equal((await third.json()).error.type, "inference_error");
  assert.ok(Number(third.headers.get("retry-after")) >= 1);
  gate.open();
  assert.equal((await first).status, 200);
  assert.equal((await second).status, 200);
});

test("an engine that hangs returns 502 after the timeout", async (t) => {
  const server = await startForTest(t, { flags: { generationTimeoutMs: "100" }, tone: frameGate().tone });
  const response = await server.post("/v1/tts", { text: "Never." });
  assert.equal(response.status, 502);
  assert.ok(response.headers.get("retry-after"));
});

test("a stopping server finishes its streams and takes no requests", async () => {
  const gate = frameGate((index) => index === 2);
  const server = await startTestServer({ tone: gate.tone });
  const response = await server.post("/v1/converse/stream", SHORT);
  const stopping = server.stop();
  await assert.rejects(server.get("/health", {}));
  gate.open();
  const events = await readEvents(response);
  assert.equal(events.at(-1)?.event, "end");
  assert.ok(pcmOfEvents(events).length > 0);
  await stopping;
});

test("a stopping server cuts streams with an error event after its grace", async () => {
  const { tone } = frameGate((index) => index === 2);
  const server = await startTestServer({ flags: { shutdownGraceMs: "50" }, tone });
  const response = await server.post("/v1/converse/stream", SHORT);
  const [, text] = await Promise.all([server.stop(), response.text()]);
  const { event, data } = parseEvents(text).at(-1)!;
  assert.deepEqual([event, data.type], ["error", "inference_error"]);
});
