import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "./start.ts";
import { pcmOf, pcmOfEvents, readEvents } from "./wire.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

const still = { temperature: 0 };

test("tts answers with a 24 kHz 16-bit mono WAV, the text, the usage and the resolved model", async () => {
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

test("at temperature 0 the three generation endpoints give the same samples", async () => {
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

test("above temperature 0 two identical requests differ", async () => {
  const once = async () => (await (await server.post("/v1/tts", { text: "Again." })).json()).audio.data_b64;
  assert.notEqual(await once(), await once());
});

test("a stream is one meta event, audio in frames of 80 ms, and one end event that says what was metered", async () => {
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

test("a reply says when each word is heard and where it stands, and a stream says it with the word", async () => {
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

test("replies of any length are whole JSON, whatever their text holds", async () => {
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

test("max_new_tokens caps the audio and meta says so", async () => {
  const params = { max_new_tokens: 16 };
  const body = await (await server.post("/v1/tts", { text: "word ".repeat(200), params })).json();
  assert.equal(body.usage.output_audio_seconds, 16 * 0.08);
  assert.equal(body.meta.stop, "length");
});

test("usage adds up what was metered and nothing else", async () => {
  const own = await startTestServer();
  try {
    const zero = await (await own.get("/v1/usage")).json();
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
    const usage = await (await own.get("/v1/usage")).json();
    assert.equal(usage.requests, 2);
    assert.equal(usage.input_chars, 16);
    const seconds = one.usage.output_audio_seconds + two.usage.output_audio_seconds;
    assert.ok(Math.abs(usage.output_audio_seconds - seconds) < 1e-9);
    assert.ok(Math.abs(usage.last_request_ts - Date.now() / 1_000) < 60);
  } finally {
    await own.stop();
  }
});

test("without a writer an authored turn is a 502 that says so, with a time to retry", async () => {
  const response = await server.post("/v1/converse", { conversation: [{ speaker: "0" }] });
  assert.equal(response.status, 502);
  assert.equal((await response.json()).error.type, "inference_error");
  assert.ok(Number(response.headers.get("retry-after")) >= 1);
  assert.equal(response.headers.get("x-should-retry"), "true");
});

test("a reply that ends before its text does says so in a header, and how much of it was spoken", async () => {
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
