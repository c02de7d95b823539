import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { until, within } from "../../../waiting.ts";
import { startForTest, startTestServer, type TestServer } from "../start.ts";
import { parseEvents, pcmOf, pcmOfEvents, readEvents } from "../wire.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

const still = { temperature: 0 };

test("POST /v1/tts returns a 24 kHz 16-bit mono WAV with text, usage and model", async () => {
  const response = await server.post("/v1/tts", { text: "Grüße 🎉 to you.", params: still });
  assert.equal(response.status, 200);
  const body = await response.json();
  assert.equal(body.request_id, response.headers.get("x-request-id"));
  assert.equal(body.model, "svc-beta-v0.3");
  assert.equal(body.text, "Grüße 🎉 to you.");
  assert.equal(body.audio.sample_rate, 24_000);
  assert.equal(body.audio.format, "wav");
  assert.equal(body.audio.audio_quality, "high");
  const wav = Buffer.from(body.audio.data_b64, "base64");
  assert.equal(wav.toString("latin1", 0, 4) + wav.toString("latin1", 8, 12), "RIFFWAVE");
  assert.equal(wav.readUInt32LE(24), 24_000);
  assert.equal(wav.readUInt16LE(34), 16);
  assert.equal(body.usage.input_chars, 15, "an emoji is one character");
  assert.equal(body.usage.output_audio_seconds, (wav.length - 44) / 48_000);
  assert.equal(body.meta.stop, "finished");
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

test("two identical requests differ above temperature 0", async () => {
  const once = async () => (await (await server.post("/v1/tts", { text: "Again." })).json()).audio.data_b64;
  assert.notEqual(await once(), await once());
});

test("a stream has one meta event, audio in frames of 80 ms, and one end event with usage", async () => {
  const response = await server.post("/v1/converse/stream", {
    conversation: [
      { speaker: "0", text: "Hi." },
      { speaker: "1", text: "Hello to you too." },
    ],
  });
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
    assert.equal(event, "audio");
    assert.equal(data.index, index);
    assert.equal(data.sample_rate, 24_000);
    const bytes = Buffer.from(data.pcm_b64, "base64").length;
    assert.ok(index === rest.length - 1 ? bytes <= 3_840 : bytes === 3_840);
  }
  assert.equal(end?.event, "end");
  assert.equal(end?.data.text, "Hello to you too.");
  assert.equal(end?.data.speaker, "1");
  assert.equal(end?.data.audio_seconds, pcmOfEvents(events).length / 48_000);
  assert.equal(end?.data.usage.input_chars, 20);
  assert.equal(end?.data.usage.output_audio_seconds, end?.data.audio_seconds);
});

test("word times and offsets are the same in a reply and in a stream", async () => {
  const conversation = [{ text: "🎉 Two  words." }];
  const whole = await (await server.post("/v1/converse", { conversation, params: still })).json();
  const { words } = whole.meta;
  assert.deepEqual(
    words.map(({ word, offset, length }: Record<string, unknown>) => [word, offset, length]),
    [
      ["Two", 2, 3],
      ["words", 7, 5],
    ],
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
  const zero = await own.usage();
  assert.deepEqual(zero, {
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

const LONG = "word ".repeat(1_500);

/** A raw HTTP/1.1 request for a stream, for tests that need to hold the socket itself. */
async function openRawStream(server: TestServer, text: string): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port) });
  await within("the connection", once(socket, "connect"));
  const body = JSON.stringify({ conversation: [{ text }], params: { max_new_tokens: 2_048 } });
  socket.write(
    `POST /v1/converse/stream HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${server.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

const gauge = async (server: TestServer, name: string): Promise<number> => {
  const text = await (await server.get("/metrics", {})).text();
  return Number(new RegExp(`^antiphon_${name} (\\S+)`, "m").exec(text)?.[1]);
};

test("a client that leaves a stream stops the engine and is metered for what was sent", async (t) => {
  let computed = 0;
  const server = await startForTest(t, { tone: { beforeFrame: () => void computed++ } });
  const socket = await openRawStream(server, LONG);
  let received = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    received += chunk;
  });
  await until("the fourth frame", () => received.includes('"index":3,'));
  socket.destroy();
  await until("the stream's end", async () => (await server.begun()) === 0);
  const whenLeft = computed;
  await turn();
  assert.equal(computed, whenLeft, "nothing is computed for a client that has gone");
  await until("the usage", async () => (await server.usage()).requests === 1);
  const usage = await server.usage();
  assert.equal(usage.input_chars, LONG.length);
  assert.ok(usage.output_audio_seconds >= 4 * 0.08 && usage.output_audio_seconds < 2_048 * 0.08);
});

test("a client that does not read stops its synthesis in bounded memory", async (t) => {
  let computed = 0;
  const server = await startForTest(t, { tone: { beforeFrame: () => void computed++ } });
  const socket = await openRawStream(server, LONG);
  socket.pause();
  let last = -1;
  // Sockets take what their buffers hold; then nothing more may be computed, however long nobody reads.
  await until("full buffers", async () => {
    const before = computed;
    for (let i = 0; i < 20; i++) await (await server.get("/health", {})).text();
    last = computed;
    return last > 0 && last === before;
  });
  assert.ok(last < 2_048, `all ${last} frames were computed for a client that reads none`);
  socket.destroy();
  await until("the stream's end", async () => (await server.begun()) === 0);
});

test("a failure returns 502 before the first frame, and an error event after it", async (t) => {
  const early = await startForTest(t, { tone: { failAtFrame: 0 } });
  const late = await startForTest(t, { tone: { failAtFrame: 3 } });
  const conversation = [{ text: "It will not come to its end." }];
  const refused = await early.post("/v1/converse/stream", { conversation });
  assert.equal(refused.status, 502);
  assert.equal((await refused.json()).error.type, "inference_error");
  assert.ok(refused.headers.get("retry-after"));
  const response = await late.post("/v1/converse/stream", { conversation });
  assert.equal(response.status, 200);
  const events = await readEvents(response);
  assert.deepEqual(
    events.map(({ event }) => event),
    ["meta", "audio", "audio", "audio", "error"],
  );
  const failure = events.at(-1)?.data;
  assert.equal(failure.type, "inference_error");
  assert.equal(failure.request_id, response.headers.get("x-request-id"));
  for (const server of [early, late]) {
    assert.equal((await server.usage()).requests, 0, "a failed call commits nothing");
  }
});

test("a quiet stream sends comments to stay alive", async (t) => {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const server = await startForTest(t, {
    flags: { heartbeatMs: "100" },
    tone: { beforeFrame: (index) => (index === 2 ? held : undefined) },
  });
  const response = await server.post("/v1/converse/stream", { conversation: [{ text: "Wait for it." }] });
  const reader = response.body?.getReader();
  let text = "";
  while (!text.includes(": keep-alive\n\n")) {
    const step = await within("a comment", reader!.read());
    assert.ok(!step.done, text);
    text += Buffer.from(step.value).toString();
  }
  letGo();
  for (;;) {
    const step = await reader?.read();
    if (step === undefined || step.done) break;
    text += Buffer.from(step.value).toString();
  }
  assert.equal(parseEvents(text).at(-1)?.event, "end");
});

test("a request waits for a slot, and returns 502 with Retry-After over the queue's depth", async (t) => {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const server = await startForTest(t, {
    flags: { concurrency: "1", queueDepth: "1" },
    tone: { beforeFrame: () => held },
  });
  const speak = () => server.post("/v1/tts", { text: "Me." });
  const first = speak();
  await until("the first to be spoken", async () => (await gauge(server, "active_streams")) === 1);
  const second = speak();
  await until("the second to wait", async () => (await gauge(server, "queue_depth")) === 1);
  const third = await speak();
  assert.equal(third.status, 502);
  assert.equal((await third.json()).error.type, "inference_error");
  assert.ok(Number(third.headers.get("retry-after")) >= 1);
  letGo();
  assert.equal((await first).status, 200);
  assert.equal((await second).status, 200);
});

test("an engine that hangs returns 502 after the timeout", async (t) => {
  const server = await startForTest(t, {
    flags: { generationTimeoutMs: "100" },
    tone: { beforeFrame: () => new Promise<void>(() => {}) },
  });
  const response = await server.post("/v1/tts", { text: "Never." });
  assert.equal(response.status, 502);
  assert.ok(response.headers.get("retry-after"));
});

test("a stopping server finishes its streams and takes no requests", async () => {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const server = await startTestServer({
    tone: { beforeFrame: (index) => (index === 2 ? held : undefined) },
  });
  const response = await server.post("/v1/converse/stream", { conversation: [{ text: "To the very end." }] });
  const stopping = server.stop();
  await assert.rejects(server.get("/health", {}));
  letGo();
  const events = await readEvents(response);
  assert.equal(events.at(-1)?.event, "end");
  assert.ok(pcmOfEvents(events).length > 0);
  await stopping;
});

test("a stopping server cuts streams with an error event after its grace", async () => {
  const server = await startTestServer({
    flags: { shutdownGraceMs: "50" },
    tone: { beforeFrame: (index) => (index === 2 ? new Promise<void>(() => {}) : undefined) },
  });
  const response = await server.post("/v1/converse/stream", {
    conversation: [{ text: "To the bitter end." }],
  });
  await Promise.all([server.stop(), response.text()]).then(([, text]) => {
    const last = parseEvents(text).at(-1);
    assert.equal(last?.event, "error");
    assert.equal(last?.data.type, "inference_error");
  });
});
