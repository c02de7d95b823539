import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, describe, test } from "node:test";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { SpeechFailedError } from "../../src/core/speech-model.ts";
import { openEndpointRecogniser } from "../../src/recognition/endpoint-recogniser.ts";
import { openChatWriter } from "../../src/writers/chat/chat-writer.ts";
import { transcribe } from "../api/http/forms.ts";
import { openRaw, rawRequest } from "../api/http/raw-socket.ts";
import { startForTest, startTestServer, type TestServer } from "../api/http/start.ts";
import { WyomingClient } from "../api/wyoming/client.ts";
import { remoteModel } from "../engines/remote/remote-model.ts";
import { json, refusal, TranscriptionServer } from "../recognition/transcription-server.ts";
import { until } from "../waiting.ts";
import { ChatServer } from "../writers/chat/chat-server.ts";
import { aTrace, everySpan, factsOf, failuresOf, idOf, spansOf, traceHere } from "./collected.ts";

traceHere();

/** Words and keys that no span may contain. */
const SAID = "Zanzibarbados sings in the evening.";
const TRANSCRIBED = "Quixotaniella asks about the harbour.";
const INSTRUCTIONS = "Speak like Wolframine the pirate.";
const WRITTEN = "Vermilioness would answer that.";
const WRITER_KEY = "sk-writer-key-0123456789";
const RECOGNISER_KEY = "sk-recogniser-key-0123456789";
const SOUND = encodeWav(Int16Array.from(randomBytes(16_000)), 16_000);

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-(\d\d)$/;

let server: TestServer;
let chat: ChatServer;
let ears: TranscriptionServer;
let beforeFrame: () => void | Promise<void> = () => {};
const NEVER = () => new Promise<void>(() => {});
const AUTHORED = { conversation: [{ text: SAID }, { speaker: "1" }] };

before(async () => {
  chat = await ChatServer.open((exchange) => exchange.begin().say(WRITTEN).finish());
  ears = await TranscriptionServer.open();
  const common = { firstTokenTimeoutMs: 10_000, totalTimeoutMs: 20_000, retryDelaysMs: [] };
  const writer = { baseUrl: chat.baseUrl, model: "test-writer", apiKey: WRITER_KEY, maxTokens: 160 };
  const recogniser = { baseUrl: ears.baseUrl, model: "test-recogniser", apiKey: RECOGNISER_KEY };
  server = await startTestServer({
    tone: { beforeFrame: () => beforeFrame() },
    wyoming: true,
    flags: { shutdownGraceMs: "50" },
    writer: openChatWriter({ ...common, ...writer }),
    recogniser: openEndpointRecogniser({ ...common, ...recogniser }),
  });
});
after(async () => {
  await server.stop();
  await chat.close();
  await ears.close();
});
beforeEach(() => {
  beforeFrame = () => {};
  chat.exchanges.length = 0;
  ears.answers(json({ text: TRANSCRIBED }));
});

/** Turns whose audio differs each time, so that no transcript is cached. */
let clips = 0;
function spokenTurns(): object[] {
  const changed = Buffer.from(SOUND);
  changed.writeInt32LE(++clips, 100);
  return [{ speaker: "0", audio_wav_b64: changed.toString("base64") }, { speaker: "1" }];
}
const post = async (body: object, headers: Record<string, string> = {}, path = "/v1/converse") =>
  (await server.post(path, body, headers)).text();
/** The spans that an action adds. */
async function added(action: () => Promise<unknown>, count: number) {
  const before = new Set(everySpan());
  await action();
  await until(`${count} spans`, () => everySpan().length === before.size + count);
  return everySpan().filter((span) => !before.has(span));
}

describe("The trace of a request", () => {
  test("has spans for recognition, writing, queue and first audio under the client's span", async () => {
    const trace = aTrace();
    const body = { conversation: spokenTurns(), instructions: INSTRUCTIONS, params: { temperature: 0.5 } };
    const headers = { ...trace.headers, "X-Request-ID": "traced" };
    assert.match(await post(body, headers, "/v1/converse/stream"), new RegExp(WRITTEN));
    const spans = await spansOf(trace);
    assert.deepEqual(spans.names, ["POST /v1/converse/stream", "first audio", "hear", "queue", "writer"]);
    const { request } = spans;
    assert.equal(request.parentSpanContext?.spanId, trace.parentId);
    assert.equal(request.kind, SpanKind.SERVER);
    for (const name of ["first audio", "hear", "queue", "writer"]) {
      const span = spans.of(name);
      assert.equal(span.parentSpanContext?.spanId, idOf(request), name);
      assert.equal(span.kind, SpanKind.INTERNAL);
    }
    assert.deepEqual(failuresOf(spans), {});
    assert.deepEqual(factsOf(request), {
      "http.request.method": "POST",
      "http.route": "/v1/converse/stream",
      "http.response.status_code": 200,
      "gen_ai.operation.name": "tts",
      "gen_ai.provider.name": "antiphon",
      "gen_ai.output.type": "speech",
      "gen_ai.request.model": "svc-beta-v0.3",
      "gen_ai.request.stream": true,
      "gen_ai.request.temperature": 0.5,
      "gen_ai.response.id": "traced",
      "gen_ai.response.finish_reasons": ["finished"],
      "antiphon.format": "pcm",
      "antiphon.audio_seconds": (WRITTEN.length * 1_440) / 24_000,
      "antiphon.input_chars": 0,
      "antiphon.end": "finished",
    });
    const { attributes } = request;
    assert.ok(Number(attributes["gen_ai.response.time_to_first_chunk"]) > 0);
    assert.ok(Number(attributes["antiphon.queue_ms"]) >= 0);
    assert.deepEqual(factsOf(spans.of("writer")), {
      "gen_ai.operation.name": "chat",
      "gen_ai.output.type": "text",
      "gen_ai.request.model": "test-writer",
      "gen_ai.request.temperature": 0.5,
      "gen_ai.usage.input_tokens": 12,
      "gen_ai.usage.output_tokens": 7,
    });
    assert.ok(Number(spans.of("writer").attributes["gen_ai.response.time_to_first_chunk"]) > 0);
    assert.deepEqual(factsOf(spans.of("hear")), {
      "gen_ai.operation.name": "stt",
      "gen_ai.output.type": "text",
      "gen_ai.request.model": "test-recogniser",
      "antiphon.input_audio_seconds": 1,
      "antiphon.heard": "whole",
    });
  });

  test("continues in the chat and transcription endpoints", async () => {
    const trace = aTrace();
    await post(
      { conversation: spokenTurns() },
      { ...trace.headers, tracestate: "some=thing", baggage: "who=knows" },
    );
    const spans = await spansOf(trace);
    const requests = { writer: chat.exchanges[0]?.request.headers, hear: ears.asked[0]?.request.headers };
    for (const [name, sent] of Object.entries(requests)) {
      const [, traceId, spanId, flags] = TRACEPARENT.exec(`${sent?.traceparent}`) ?? [];
      assert.deepEqual([traceId, spanId, flags], [trace.id, idOf(spans.of(name)), "01"], name);
      assert.equal(sent?.tracestate, "some=thing");
      assert.equal(sent?.baggage, undefined, "other headers of the client are dropped");
    }
  });

  test("continues in another Antiphon", async (t) => {
    const options = {
      urls: [`${server.url}/v1`],
      kind: "antiphon",
      model: null,
      apiKey: server.key,
    } as const;
    const load = async () => remoteModel(options);
    const front = await startForTest(t, { checkpoints: [{ name: "heart", memoryBytes: 1, load }] });
    const trace = aTrace();
    const reply = await front.post("/v1/tts", { text: SAID }, trace.headers);
    assert.equal(reply.status, 200, await reply.text());
    const isFront = (span: { name: string }) => span.name === "POST /v1/tts";
    await until("the front's span", () =>
      everySpan().some((span) => isFront(span) && span.spanContext().traceId === trace.id),
    );
    const { all } = await spansOf(trace);
    const within = all.find(
      ({ name, parentSpanContext }) =>
        name === "first audio" && parentSpanContext?.spanId === idOf(all.find(isFront)!),
    );
    const back = all.find(({ name }) => name === "POST /v1/converse/stream");
    assert.equal(back?.parentSpanContext?.spanId, idOf(within!));
  });

  test("is not recorded when the client does not sample it, and says so onwards", async () => {
    const trace = aTrace("00");
    const before = everySpan().length;
    await post(AUTHORED, trace.headers);
    const [, traceId, , flags] = TRACEPARENT.exec(`${chat.exchanges[0]?.request.headers.traceparent}`) ?? [];
    assert.deepEqual([traceId, flags], [trace.id, "00"]);
    assert.equal(everySpan().length, before);
  });

  test("stays separate from simultaneous traces", async () => {
    const all = Array.from({ length: 12 }, () => aTrace());
    await Promise.all(
      all.map((trace, n) =>
        post(AUTHORED, trace.headers, n % 2 === 0 ? "/v1/converse" : "/v1/converse/stream"),
      ),
    );
    for (const trace of all) {
      const spans = await spansOf(trace);
      assert.equal(spans.all.length, 4);
      assert.equal(spans.request.parentSpanContext?.spanId, trace.parentId);
      for (const name of ["first audio", "queue", "writer"])
        assert.equal(spans.of(name).parentSpanContext?.spanId, idOf(spans.request));
    }
    assert.equal(new Set(chat.exchanges.map(({ request }) => request.headers.traceparent)).size, 12);
  });

  test("starts anew without a client's trace", async () => {
    const own = await added(() => post({ text: SAID }, {}, "/v1/tts"), 3);
    const [request] = own.filter(({ kind }) => kind === SpanKind.SERVER);
    assert.equal(request?.parentSpanContext, undefined);
    assert.equal(new Set(own.map((span) => span.spanContext().traceId)).size, 1);
  });

  test("of a transcription has spans for the queue and the recognition", async () => {
    const trace = aTrace();
    const reply = await transcribe(server, {}, { headers: { "X-API-Key": server.key, ...trace.headers } });
    assert.equal(reply.status, 200);
    const spans = await spansOf(trace);
    assert.deepEqual(spans.names, ["POST /v1/audio/transcriptions", "hear", "queue"]);
    const { attributes } = spans.request;
    assert.deepEqual(
      ["operation.name", "provider.name", "request.model"].map((name) => attributes[`gen_ai.${name}`]),
      ["stt", "antiphon", "test-recogniser"],
    );
    assert.match(`${ears.asked[0]?.request.headers.traceparent}`, new RegExp(idOf(spans.of("hear"))));
  });

  test("of a Wyoming request has a span", async () => {
    const spans = await added(async () => {
      const client = await WyomingClient.open(server.wyomingUrl!);
      client.send("synthesize", { text: SAID });
      await client.upTo("audio-stop");
      client.close();
    }, 3);
    assert.deepEqual(spans.map(({ name }) => name).sort(), ["first audio", "queue", "wyoming:synthesize"]);
  });
});

test("requests that neither speak nor transcribe have no span", async () => {
  const spans = await added(async () => {
    for (const path of ["/health", "/metrics", "/v1/models", "/v1/usage", "/v1/nowhere"])
      await (await server.get(path)).text();
    await post({ text: SAID }, {}, "/v1/tts");
  }, 3);
  const requests = spans.filter(({ kind }) => kind === SpanKind.SERVER).map(({ name }) => name);
  assert.deepEqual(requests, ["POST /v1/tts"]);
});

describe("A span", () => {
  test("has the error type of a failure", async () => {
    beforeFrame = () => {
      throw new SpeechFailedError(SAID);
    };
    const spoken = aTrace();
    assert.equal((await server.post("/v1/tts", { text: SAID }, spoken.headers)).status, 502);
    const spans = await spansOf(spoken);
    const failures = { "POST /v1/tts": "inference_error", "first audio": "SpeechFailedError" };
    assert.deepEqual(failuresOf(spans), failures);
    const { attributes } = spans.request;
    assert.equal(attributes["http.response.status_code"], 502);
    assert.deepEqual(attributes["gen_ai.response.finish_reasons"], ["failed"]);
    assert.equal(attributes["antiphon.end"], "failed");
  });

  test("has the error type of a writer or a recogniser", async () => {
    chat.next((exchange) => exchange.refuse(500));
    const written = aTrace();
    assert.equal((await server.post("/v1/converse", AUTHORED, written.headers)).status, 502);
    const writing = await spansOf(written);
    assert.deepEqual(failuresOf(writing), { "POST /v1/converse": "inference_error", writer: "WriterError" });
    ears.answers(refusal(500));
    const transcribed = aTrace();
    const reply = await transcribe(
      server,
      {},
      { headers: { "X-API-Key": server.key, ...transcribed.headers } },
    );
    assert.equal(reply.status, 502);
    const failures = { "POST /v1/audio/transcriptions": "inference_error", hear: "RecogniserError" };
    assert.deepEqual(failuresOf(await spansOf(transcribed)), failures);
  });

  test("has the type of a refusal without being an error", async () => {
    const trace = aTrace();
    assert.equal((await server.post("/v1/tts", { text: SAID, model: SAID }, trace.headers)).status, 400);
    const { request, names } = await spansOf(trace);
    assert.deepEqual(names, ["POST /v1/tts"]);
    assert.equal(request.status.code, SpanStatusCode.UNSET);
    const { attributes } = request;
    assert.deepEqual(
      [attributes["http.response.status_code"], attributes["error.type"], attributes["antiphon.end"]],
      [400, "invalid_request", "failed"],
    );
  });

  test("of a client that leaves is no error, and has the audio sent", async () => {
    let frames = 0;
    beforeFrame = () => (frames++ < 3 ? undefined : NEVER());
    const trace = aTrace();
    const { socket } = await openRaw(server);
    const conversation = [{ text: SAID }];
    socket.write(rawRequest("/v1/converse/stream", server.key, { conversation }, trace.headers));
    await until("the third frame", async () => (await server.begun()) === 1 && frames === 4);
    socket.destroy();
    const spans = await spansOf(trace);
    assert.deepEqual(failuresOf(spans), {});
    const { attributes } = spans.request;
    assert.deepEqual(
      [attributes["antiphon.end"], attributes["gen_ai.response.finish_reasons"]],
      ["left", ["gone"]],
    );
    assert.equal(attributes["antiphon.audio_seconds"], 0.24);
  });

  test("of a wait in the queue ends when the client leaves", async (t) => {
    const flags = { concurrency: "1", shutdownGraceMs: "50" };
    const own = await startForTest(t, { flags, tone: { beforeFrame: NEVER } });
    const { socket: first } = await openRaw(own);
    first.write(rawRequest("/v1/tts", own.key, { text: SAID }));
    await until("the place to be taken", async () => (await own.begun()) === 1);
    const trace = aTrace();
    const { socket } = await openRaw(own);
    socket.write(rawRequest("/v1/tts", own.key, { text: SAID }, trace.headers));
    await own.metricIs("queue_depth", 1);
    socket.destroy();
    const spans = await spansOf(trace);
    await until("the queue's to end", () =>
      everySpan().some((span) => span.name === "queue" && span.spanContext().traceId === trace.id),
    );
    assert.deepEqual(failuresOf(spans), {});
    first.destroy();
  });
});

test("no span has a text, a key, audio or a client's own words", async () => {
  const trace = aTrace();
  const conversation = spokenTurns();
  const audio = JSON.stringify(conversation).slice(200, 230);
  const body = { conversation, instructions: INSTRUCTIONS, model: SAID };
  await post(body, trace.headers, `/v1/converse?text=${encodeURIComponent(SAID)}`);
  await spansOf(trace);
  assert.ok(everySpan().length > 60, `${everySpan().length} spans`);
  const all = everySpan().map(({ name, attributes, events, links, status }) => [
    name,
    attributes,
    events,
    links,
    status,
  ]);
  const text = JSON.stringify(all);
  const words = [SAID, TRANSCRIBED, WRITTEN, INSTRUCTIONS].flatMap((each) => each.split(" ").slice(0, 1));
  for (const secret of [...words, server.key, WRITER_KEY, RECOGNISER_KEY, audio])
    assert.ok(!text.includes(secret), secret);
  assert.deepEqual(
    everySpan().filter(({ events, links, status }) => events.length + links.length > 0 || status.message),
    [],
  );
});
