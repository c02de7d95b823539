import assert from "node:assert/strict";
import { after, afterEach, describe, test } from "node:test";
import pino from "pino";
import {
  type Answer,
  bytes,
  refusal,
  SpeechServer,
  speech,
  streamedWav,
  tonePcm,
  UPSTREAM_SECRET,
} from "../../engines/remote/speech-server.ts";
import { until, within } from "../../waiting.ts";
import { ScriptedWriter } from "../../writers/scripted-writer.ts";
import { startRemoteServer } from "./remote-server.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./start.ts";
import { pcmOf, pcmOfEvents, readEvents } from "./wire.ts";

const KEY = "the-key-of-elsewhere";
const antiphon = await startTestServer();
const upstream = await SpeechServer.open();
let server: TestServer | null = null;
afterEach(async () => {
  await server?.stop();
  server = null;
});
after(async () => {
  await antiphon.stop();
  await upstream.close();
});

/** The default model is spoken by another Antiphon, `api` by the same behind OpenAI's API, `fake` by one of the test's. */
async function serve(options: TestServerOptions = {}, fake: object = {}): Promise<TestServer> {
  const voices = { "0": "0", "1": "1" };
  const urls = [`${antiphon.url}/v1`];
  const openai = { kind: "openai", voices, model: "tts-1", keyEnv: "ELSEWHERE_KEY" };
  server = await startRemoteServer(
    {
      models: {
        "svc-beta-v0.3": { checkpoint: "farm" },
        api: { checkpoint: "api" },
        fake: { checkpoint: "fake" },
      },
      checkpoints: {
        farm: { remote: { kind: "antiphon", urls, keyEnv: "ANTIPHONS_KEY" } },
        api: { remote: { ...openai, urls, keyEnv: "ANTIPHONS_KEY" } },
        fake: { remote: { ...openai, urls: [upstream.url], firstSoundTimeoutMs: 20_000, ...fake } },
      },
      env: { ANTIPHONS_KEY: antiphon.key, ELSEWHERE_KEY: KEY },
    },
    options,
  );
  return server;
}

const TEXT = "The tide came in.";
/** A tone of 60 ms a character. */
const TEXT_S = 17 * 0.06;
const CONVERSATION = [
  { speaker: "1", text: "What then?" },
  { speaker: "0", text: TEXT },
];
const params = { temperature: 0 };
const held: Answer = ({ response }) => {
  response.writeHead(200, { "content-type": "audio/wav" });
  response.write(streamedWav(tonePcm(1)));
};

describe("a model that is spoken elsewhere", () => {
  test("speaks by every route, as it does there, and is metered here", async () => {
    const { post, get } = await serve();
    const there = pcmOf(
      (await (await antiphon.post("/v1/tts", { text: TEXT, params })).json()).audio.data_b64,
    );
    const tts = await (await post("/v1/tts", { text: TEXT, params })).json();
    assert.deepEqual(pcmOf(tts.audio.data_b64), there);
    assert.equal(tts.model, "svc-beta-v0.3");
    assert.deepEqual(
      tts.meta.words.map(({ word, start }: { word: string; start: number }) => [word, start]),
      [
        ["The", 0],
        ["tide", 0.24],
        ["came", 0.54],
        ["in", 0.84],
      ],
    );
    const whole = await (await post("/v1/converse", { conversation: CONVERSATION, params })).json();
    assert.deepEqual(pcmOf(whole.reply.audio.data_b64), there);
    const events = await readEvents(
      await post("/v1/converse/stream", { conversation: CONVERSATION, params }),
    );
    assert.deepEqual(pcmOfEvents(events), there);
    assert.equal(events.at(-1)?.event, "end");
    assert.deepEqual(events.at(-1)?.data.meta.words, tts.meta.words);
    const mp3 = await post("/v1/audio/speech", { input: TEXT, model: "api" });
    assert.equal(mp3.headers.get("content-type"), "audio/mpeg");
    assert.ok((await mp3.arrayBuffer()).byteLength > 8_000);
    const api = await (await post("/v1/tts", { text: TEXT, model: "api" })).json();
    assert.equal(api.audio.data_b64.length, tts.audio.data_b64.length);
    assert.equal(api.meta.words, undefined);
    const usage = await (await get("/v1/usage")).json();
    assert.deepEqual(
      [usage.requests, usage.input_chars, Number(usage.output_audio_seconds.toFixed(3))],
      [5, 3 * 17 + 2 * 27, Number((5 * TEXT_S).toFixed(3))],
    );
  });

  test("is listed with what it does not take", async () => {
    const { get } = await serve();
    const { data } = await (await get("/v1/models")).json();
    const cards = new Map(data.map((card: { id: string }) => [card.id, card]));
    assert.deepEqual([...cards.keys()].slice(-2), ["api", "fake"]);
    const { speakers, modes, default: isDefault, description } = cards.get("fake") as Record<string, unknown>;
    assert.deepEqual([speakers, modes, isDefault], [["0", "1"], ["converse", "tts"], false]);
    assert.match(String(description), /bytes do not repeat/);
  });

  test("speaks a written turn sentence by sentence, and its text is what was asked for", async () => {
    const sentences = ["It was wonderful.", "We saw the sea."];
    const { post } = await serve({ writer: new ScriptedWriter(sentences) });
    upstream.answers(bytes(streamedWav(tonePcm(1))));
    const conversation = [{ text: "How was it?" }, { speaker: "1" }];
    const { reply } = await (await post("/v1/converse", { conversation, model: "fake" })).json();
    assert.equal(reply.text, sentences.join(" "));
    assert.deepEqual(
      upstream.asked.map(({ body }) => [body.input, body.voice]),
      [
        [sentences[0], "1"],
        [sentences[1], "1"],
      ],
    );
    const words = (await (await post("/v1/converse", { conversation })).json()).meta.words;
    const heard = words.map((each: { word: string; start: number; offset: number }) => each);
    assert.deepEqual(
      heard.map(({ word }: { word: string }) => word),
      ["It", "was", "wonderful", "We", "saw", "the", "sea"],
    );
    for (const { word, offset } of heard) assert.ok(reply.text.startsWith(word, offset), word);
    // The second sentence is given with the space before it.
    assert.equal(heard[3].start, (17 + 1) * 0.06);
  });

  test("is left with its client, and what was sent is metered", async () => {
    const { post, get } = await serve();
    const leaving = new AbortController();
    upstream.answers(held);
    const headers = { Authorization: `Bearer ${server!.key}`, "Content-Type": "application/json" };
    const stream = await fetch(`${server!.url}/v1/converse/stream`, {
      method: "POST",
      headers,
      body: JSON.stringify({ conversation: CONVERSATION, model: "fake" }),
      signal: leaving.signal,
    });
    await within("the first audio", stream.body!.getReader().read());
    assert.equal(upstream.asked[0]?.hasLeft(), false);
    leaving.abort();
    await until("the endpoint to be left", () => upstream.asked[0]?.hasLeft() === true);
    await until("the usage", async () => (await (await get("/v1/usage")).json()).requests === 1);

    const alsoLeaving = new AbortController();
    const whole = fetch(`${server!.url}/v1/tts`, {
      method: "POST",
      headers,
      body: JSON.stringify({ text: TEXT, model: "fake" }),
      signal: alsoLeaving.signal,
    });
    await upstream.isAsked(2);
    alsoLeaving.abort();
    await assert.rejects(whole);
    await until("the endpoint to be left", () => upstream.asked[1]?.hasLeft() === true);
    upstream.answers(speech);
    assert.equal((await post("/v1/tts", { text: TEXT, model: "fake" })).status, 200);
  });

  test("that fails is a 502 which tells nothing of it, and a line in the log which does", async () => {
    const lines: string[] = [];
    const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    for (const [answer, cause, retryAfter] of [
      [refusal(401), "refused the key (401): check keyFile or keyEnv", "60"],
      [refusal(429, { "retry-after": "7" }), "is busy, or its quota is used up (429)", "7"],
      [
        bytes(Buffer.from(`<html>${UPSTREAM_SECRET}`), "text/html"),
        "answered with text instead of audio",
        "60",
      ],
    ] as const) {
      // Another server each time: an endpoint that asked to be left alone is.
      await server?.stop();
      const { post, get } = await serve({ logger });
      upstream.answers(answer);
      const reply = await post("/v1/tts", { text: TEXT, model: "fake" });
      const { error } = await reply.json();
      assert.deepEqual(
        [reply.status, error.type, error.message],
        [502, "inference_error", "the speech model failed: retry"],
      );
      assert.equal(reply.headers.get("retry-after"), retryAfter);
      await until("the line", () => lines.some((line) => line.includes(cause)));
      assert.equal((await (await get("/v1/usage")).json()).requests, 0);
    }
    const said = lines.join("\n");
    for (const secret of [KEY, antiphon.key, UPSTREAM_SECRET, TEXT]) assert.ok(!said.includes(secret), said);
  });

  test("that breaks off in the middle ends a stream with an error", async () => {
    const { post } = await serve();
    upstream.answers(({ response }) => {
      response.writeHead(200, { "content-type": "audio/wav" });
      response.write(streamedWav(tonePcm(1)), () => response.destroy());
    });
    const events = await readEvents(
      await post("/v1/converse/stream", { conversation: CONVERSATION, model: "fake" }),
    );
    assert.deepEqual([events[1]?.event, events.at(-1)?.event], ["audio", "error"]);
    assert.deepEqual(events.at(-1)?.data.message, "the speech model failed: retry");
  });

  test("has places of its own: who waits for one holds up nobody who is spoken for here", async () => {
    const { post, metric } = await serve({ flags: { concurrency: "1" } }, { maxConcurrent: 2 });
    const releases: (() => void)[] = [];
    upstream.answers(({ response }) => {
      response.writeHead(200, { "content-type": "audio/wav" });
      releases.push(() => void response.end(streamedWav(tonePcm(3))));
    });
    const ask = () => post("/v1/tts", { text: TEXT, model: "fake" });
    const replies = [ask(), ask(), ask()];
    await upstream.isAsked(2);
    await until("the third to wait", async () => (await metric("queue_depth")) === 1);
    assert.equal((await post("/v1/tts", { text: TEXT, model: "svc-beta-v0.2" })).status, 200);
    assert.equal(upstream.asked.length, 2);
    for (const release of releases.splice(0)) release();
    await upstream.isAsked(3);
    for (const release of releases) release();
    for (const reply of await Promise.all(replies)) assert.equal(reply.status, 200);
  });

  test("refuses who finds no room to wait, and nobody else", async () => {
    const { post } = await serve({ flags: { keyQueueDepth: "1" } }, { maxConcurrent: 1 });
    upstream.answers(held);
    const leaving = new AbortController();
    const ask = () =>
      fetch(`${server!.url}/v1/tts`, {
        method: "POST",
        headers: { Authorization: `Bearer ${server!.key}`, "Content-Type": "application/json" },
        body: JSON.stringify({ text: TEXT, model: "fake" }),
        signal: leaving.signal,
      });
    const open = [ask()];
    await upstream.isAsked(1);
    open.push(ask());
    await until("the second to wait", async () => (await server!.metric("queue_depth")) === 1);
    assert.equal((await post("/v1/tts", { text: TEXT, model: "fake" })).status, 429);
    assert.equal((await post("/v1/tts", { text: TEXT })).status, 200);
    leaving.abort();
    await Promise.allSettled(open);
  });
});
