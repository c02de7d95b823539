import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { after, before, test } from "node:test";
import { encodeWav as encodeWavHere } from "../../src/audio/encode-wav.ts";
import {
  Antiphon,
  AntiphonError,
  bytesOf,
  encodeWav,
  pcmOf,
  type StreamEvent,
  toBase64,
} from "../../src/client/antiphon.ts";
import { WAV } from "../api/http/forms.ts";
import { startTestServer, type TestServer } from "../api/http/start.ts";
import fc from "../properties.ts";
import { ScriptedRecogniser } from "../recognition/scripted-recogniser.ts";
import { until } from "../waiting.ts";
import { ScriptedWriter } from "../writers/scripted-writer.ts";

let server: TestServer;
let antiphon: Antiphon;
before(async () => {
  const [writer, recogniser] = [new ScriptedWriter(["It was wonderful."]), new ScriptedRecogniser()];
  server = await startTestServer({ writer, recogniser });
  antiphon = new Antiphon({ baseUrl: `${server.url}/`, apiKey: server.key });
});
after(() => server.stop());

const GREEDY = { temperature: 0 };

test("tts, converse and speech return the same samples for a text", async () => {
  const text = "Hello there.";
  const spoken = await antiphon.tts({ text, params: GREEDY });
  const { reply } = await antiphon.converse({ conversation: [{ text }], params: GREEDY });
  assert.equal(spoken.text, text);
  assert.equal(reply.text, text);
  assert.equal(spoken.audio.data_b64, reply.audio?.data_b64);
  const file = await antiphon.speech({ model: "tts-1", input: text, response_format: "wav" });
  assert.match(file.type, /^audio\/(x-)?wav/);
  assert.equal((await file.arrayBuffer()).byteLength, bytesOf(spoken.audio.data_b64).length);
});

test("converse writes a turn without text and listens to one with audio", async () => {
  const conversation = [{ speaker: "0", audio_wav_b64: toBase64(WAV) }, { speaker: "1" }];
  const { reply, usage } = await antiphon.converse({ conversation });
  assert.equal(reply.text, "It was wonderful.");
  assert.equal(usage.input_audio_seconds, 0.5);
});

test("transcribe returns every format", async () => {
  const recording = { file: new Blob([WAV]) };
  const { text, usage } = await antiphon.transcribe(recording);
  assert.ok(text.length > 0);
  assert.equal(usage.seconds, 0.5);
  assert.equal((await antiphon.transcribe({ file: WAV, response_format: "text" })).trim(), text);
  assert.match(await antiphon.transcribe({ ...recording, response_format: "srt" }), /^1\n00:00/);
  assert.match(await antiphon.transcribe({ ...recording, response_format: "vtt" }), /^WEBVTT/);
  const verbose = await antiphon.transcribe({
    ...recording,
    response_format: "verbose_json",
    timestamp_granularities: ["word", "segment"],
    language: "en",
    prompt: "Names: Ann.",
  });
  assert.ok(verbose.words!.length > 0 && verbose.segments!.length > 0);
});

test("models, voices, info and usage return the server's", async () => {
  assert.ok((await antiphon.models()).some((card) => card.default && card.speakers.includes("0")));
  assert.ok((await antiphon.voices()).some(({ id }) => id === "1"));
  assert.equal((await antiphon.info()).backend.sample_rate, 24_000);
  const sample = await antiphon.voiceSample("1", "svc-beta-v0.1");
  assert.equal(sample.type, "audio/mpeg");
  assert.ok(sample.size > 1_000);
  assert.equal((await antiphon.usage()).key_id, server.keyId);
});

test("errors distinguish an unknown key, an invalid request and a rate limit", async () => {
  const types = async (call: Promise<unknown>) => {
    const error = await call.catch((reason: unknown) => reason);
    assert.ok(error instanceof AntiphonError);
    assert.match(error.requestId ?? "", /^req_/);
    return [error.status, error.type, error.retryAfterMs !== null];
  };
  const stranger = new Antiphon({ baseUrl: server.url, apiKey: "ant_nobody" });
  assert.deepEqual(await types(stranger.models()), [401, "authentication_error", false]);
  assert.deepEqual(await types(antiphon.tts({ text: "" })), [422, "invalid_request", false]);
  assert.deepEqual(await types(antiphon.tts({ text: "Hi.", speaker: "7" })), [400, "invalid_request", false]);
  const other = await server.tenancy.createKey({ label: "slow", rpm: 1, burst: 1 });
  const slow = new Antiphon({ baseUrl: server.url, apiKey: other.key, maxRetries: 0 });
  await slow.tts({ text: "Hi." });
  assert.deepEqual(await types(slow.tts({ text: "Hi." })), [429, "rate_limit_exceeded", true]);
});

test("a request has the given id, and by default the key of the environment", async () => {
  const { ANTIPHON_KEY: before } = process.env;
  process.env.ANTIPHON_KEY = server.key;
  try {
    const reply = await new Antiphon({ baseUrl: server.url }).tts({ text: "Hi." }, { requestId: "mine-1" });
    assert.equal(reply.request_id, "mine-1");
  } finally {
    if (before === undefined) delete process.env.ANTIPHON_KEY;
    else process.env.ANTIPHON_KEY = before;
  }
});

test("base64 and WAV match the server's own encoders", () => {
  fc.assert(
    fc.property(fc.array(fc.int16Array({ maxLength: 300 }), { maxLength: 5 }), (pieces) => {
      const wav = encodeWav(pieces);
      assert.deepEqual(wav, encodeWavHere(pieces, 24_000));
      assert.equal(toBase64(wav), Buffer.from(wav).toString("base64"));
      const joined = Int16Array.from(pieces.flatMap((piece) => [...piece]));
      assert.deepEqual(pcmOf(Buffer.from(joined.buffer).toString("base64")), joined);
    }),
  );
  const bytes = Uint8Array.from({ length: 100_003 }, (_, i) => (i * 7_919) % 256);
  assert.equal(toBase64(bytes), Buffer.from(bytes).toString("base64"));
});

const SHORT = { conversation: [{ text: "Hello there." }], params: GREEDY };

test("a stream has meta, every frame and the end, with the samples of the whole reply", async () => {
  const events: StreamEvent[] = [];
  for await (const event of antiphon.stream(SHORT)) events.push(event);
  const names = events.map(({ event }) => event);
  assert.deepEqual(names, ["meta", ...names.slice(1, -1).map(() => "audio"), "end"]);
  const frames = events.flatMap((event) => (event.event === "audio" ? [event.pcm] : []));
  const whole = await antiphon.converse(SHORT);
  const wav = Buffer.from(whole.reply.audio!.data_b64, "base64");
  assert.deepEqual(Buffer.concat(frames.map(({ buffer }) => Buffer.from(buffer))), wav.subarray(44));
});

test("leaving a stream's loop ends the generation on the server", async () => {
  const conversation = [{ text: "word ".repeat(400) }];
  for await (const { event } of antiphon.stream({ conversation })) if (event === "audio") break;
  await until("the generation to end", async () => (await server.begun()) === 0);
});

test("a stream read to its end frees its connection", async () => {
  const sockets = new Set<unknown>();
  const onRequest = (message: unknown) =>
    sockets.add((message as { request: { socket: unknown } }).request.socket);
  subscribe("http.server.request.start", onRequest);
  try {
    for (let calls = 0; calls < 8; calls++) {
      for await (const event of antiphon.stream(SHORT)) assert.ok(event);
    }
  } finally {
    unsubscribe("http.server.request.start", onRequest);
  }
  // The next call may begin before the last connection is free.
  assert.ok(sockets.size <= 2, `${sockets.size} connections`);
});
