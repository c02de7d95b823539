import assert from "node:assert/strict";
import { after, afterEach, describe, test } from "node:test";
import pino from "pino";
import type { VoiceSample } from "../../../../src/core/script.ts";
import { modelsFromSettings } from "../../../../src/models/models-from-settings.ts";
import { remoteCheckpoints } from "../../../../src/server/voices/remote-checkpoints.ts";
import { loadSettings } from "../../../../src/settings/load.ts";
import {
  type Answer,
  bytes,
  json,
  refusal,
  SpeechServer,
  speech,
  streamedWav,
  tonePcm,
  UPSTREAM_SECRET,
} from "../../../engines/remote/speech-server.ts";
import { until, within } from "../../../waiting.ts";
import { ScriptedWriter } from "../../../writers/scripted-writer.ts";
import { VOICES } from "../forms.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../start.ts";
import { pcmOf, pcmOfEvents, readEvents } from "../wire.ts";

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

/** The remote models and checkpoints of the settings, and the environment with their keys. */
interface RemoteSettings {
  readonly models: Readonly<Record<string, { readonly checkpoint: string }>>;
  readonly checkpoints: Readonly<Record<string, { readonly remote: object }>>;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a server with remote models, composed as by `antiphon serve`. */
async function startRemote({ models, checkpoints, env }: RemoteSettings, options: TestServerOptions) {
  const settings = loadSettings({
    env: { ANTIPHON_MODELS: JSON.stringify(models), ANTIPHON_CHECKPOINTS: JSON.stringify(checkpoints) },
  });
  const remotes = remoteCheckpoints(settings, { env });
  const slotsOf = (slots: number) => ({ slots, keepsSlots: false });
  server = await startTestServer({
    ...options,
    models: modelsFromSettings(settings),
    checkpoints: remotes,
    remoteVoices: new Map(remotes.map(({ name, voices }) => [name, voices])),
    checkpointSlots: new Map(remotes.map(({ name, maxConcurrent }) => [name, slotsOf(maxConcurrent)])),
  });
  return server;
}

const KEY = "the-key-of-the-endpoint";

/** Another Antiphon speaks the default model, and `api` behind OpenAI's API; `upstream` speaks `fake`. */
async function serve(options: TestServerOptions = {}, fake: object = {}): Promise<TestServer> {
  const voices = { "0": "0", "1": "1" };
  const urls = [`${antiphon.url}/v1`];
  const openai = { kind: "openai", voices, model: "tts-1", keyEnv: "ELSEWHERE_KEY" };
  return startRemote(
    {
      models: {
        "svc-beta-v0.3": { checkpoint: "farm" },
        api: { checkpoint: "api" },
        fake: { checkpoint: "fake" },
      },
      checkpoints: {
        farm: { remote: { kind: "antiphon", urls, keyEnv: "ANTIPHON" } },
        api: { remote: { ...openai, urls, keyEnv: "ANTIPHON" } },
        fake: { remote: { ...openai, urls: [upstream.url], firstSoundTimeoutMs: 20_000, ...fake } },
      },
      env: { ANTIPHON: antiphon.key, ELSEWHERE_KEY: KEY },
    },
    options,
  );
}

const TEXT = "The tide came in.";
/** The tones last 60 ms a character. */
const TEXT_S = 17 * 0.06;
const CONVERSATION = [
  { speaker: "1", text: "What then?" },
  { speaker: "0", text: TEXT },
];
const params = { temperature: 0 };
const FAKE_TTS = { text: TEXT, model: "fake" };
const held: Answer = ({ response }) => {
  response.writeHead(200, { "content-type": "audio/wav" });
  response.write(streamedWav(tonePcm(1)));
};

describe("A remote model", () => {
  test("speaks by every route as it does there, and is metered here", async () => {
    const { post, usage: usageOf } = await serve();
    const remote = await (await antiphon.post("/v1/tts", { text: TEXT, params })).json();
    const there = pcmOf(remote.audio.data_b64);
    const tts = await (await post("/v1/tts", { text: TEXT, params })).json();
    assert.deepEqual(pcmOf(tts.audio.data_b64), there);
    assert.equal(tts.model, "svc-beta-v0.3");
    assert.deepEqual(
      tts.meta.words.map(({ word, start }: { word: string; start: number }) => `${word} ${start}`),
      ["The 0", "tide 0.24", "came 0.54", "in 0.84"],
    );
    const whole = await (await post("/v1/converse", { conversation: CONVERSATION, params })).json();
    assert.deepEqual(pcmOf(whole.reply.audio.data_b64), there);
    const streamed = await post("/v1/converse/stream", { conversation: CONVERSATION, params });
    const events = await readEvents(streamed);
    assert.deepEqual(pcmOfEvents(events), there);
    assert.equal(events.at(-1)?.event, "end");
    assert.deepEqual(events.at(-1)?.data.meta.words, tts.meta.words);
    const mp3 = await post("/v1/audio/speech", { input: TEXT, model: "api" });
    assert.equal(mp3.headers.get("content-type"), "audio/mpeg");
    assert.ok((await mp3.arrayBuffer()).byteLength > 8_000);
    const api = await (await post("/v1/tts", { text: TEXT, model: "api" })).json();
    assert.equal(api.audio.data_b64.length, tts.audio.data_b64.length);
    assert.equal(api.meta.words, undefined);
    const usage = await usageOf();
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

  test("speaks an authored turn sentence by sentence", async () => {
    const sentences = ["It was wonderful.", "We saw the sea."];
    const { post } = await serve({ writer: new ScriptedWriter(sentences) });
    upstream.answers(bytes(streamedWav(tonePcm(1))));
    const conversation = [{ text: "How was it?" }, { speaker: "1" }];
    const { reply } = await (await post("/v1/converse", { conversation, model: "fake" })).json();
    assert.equal(reply.text, sentences.join(" "));
    assert.deepEqual(
      upstream.asked.map(({ body }) => [body.input, body.voice]),
      sentences.map((sentence) => [sentence, "1"]),
    );
    const { words } = (await (await post("/v1/converse", { conversation })).json()).meta;
    assert.deepEqual(
      words.map(({ word }: { word: string }) => word),
      ["It", "was", "wonderful", "We", "saw", "the", "sea"],
    );
    for (const { word, offset } of words) assert.ok(reply.text.startsWith(word, offset), word);
    // The second sentence begins with the space before it.
    assert.equal(words[3].start, (17 + 1) * 0.06);
  });

  test("is disconnected with its client, and what was sent is metered", async () => {
    const { post, usage } = await serve();
    upstream.answers(held);
    const [first, second] = [new AbortController(), new AbortController()];
    const fields = { conversation: CONVERSATION, model: "fake" };
    const stream: Response = (await post("/v1/converse/stream", fields, {}, first.signal)) as Response;
    await within("the first audio", stream.body!.getReader().read());
    assert.equal(upstream.asked[0]?.hasLeft(), false);
    first.abort();
    await until("the disconnection", () => upstream.asked[0]?.hasLeft() === true);
    await until("the usage", async () => (await usage()).requests === 1);
    const whole = post("/v1/tts", FAKE_TTS, {}, second.signal);
    await upstream.isAsked(2);
    second.abort();
    await assert.rejects(whole);
    await until("the second disconnection", () => upstream.asked[1]?.hasLeft() === true);
    upstream.answers(speech);
    assert.equal((await post("/v1/tts", FAKE_TTS)).status, 200);
  });

  test("returns 502 without details when it fails, and logs the cause", async () => {
    const lines: string[] = [];
    const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    const html = bytes(Buffer.from(`<html>${UPSTREAM_SECRET}`), "text/html");
    for (const [answer, cause, retryAfter] of [
      [refusal(401), "refused the key (401): check keyFile or keyEnv", "60"],
      [refusal(429, { "retry-after": "7" }), "is busy, or its quota is used up (429)", "7"],
      [html, "answered with text instead of audio", "60"],
    ] as const) {
      // A server each: an endpoint that asks to retry later is not asked again before.
      await server?.stop();
      const { post, usage } = await serve({ logger });
      upstream.answers(answer);
      const reply = await post("/v1/tts", FAKE_TTS);
      const { type, message } = (await reply.json()).error;
      assert.deepEqual(
        [reply.status, type, message],
        [502, "inference_error", "the speech model failed: retry"],
      );
      assert.equal(reply.headers.get("retry-after"), retryAfter);
      await until("the line", () => lines.some((line) => line.includes(cause)));
      assert.equal((await usage()).requests, 0);
    }
    const said = lines.join("\n");
    for (const secret of [KEY, antiphon.key, UPSTREAM_SECRET, TEXT]) assert.ok(!said.includes(secret), said);
  });

  test("ends a stream with an error event when it breaks off", async () => {
    const { post } = await serve();
    upstream.answers(({ response }) => {
      response.writeHead(200, { "content-type": "audio/wav" });
      response.write(streamedWav(tonePcm(1)), () => response.destroy());
    });
    const reply = await post("/v1/converse/stream", { conversation: CONVERSATION, model: "fake" });
    const events = await readEvents(reply);
    assert.deepEqual([events[1]?.event, events.at(-1)?.event], ["audio", "error"]);
    assert.deepEqual(events.at(-1)?.data.message, "the speech model failed: retry");
  });

  test("has its own slots, which delay no local speech", async () => {
    const { post, metric } = await serve({ flags: { concurrency: "1" } }, { maxConcurrent: 2 });
    const releases: (() => void)[] = [];
    upstream.answers(({ response }) => {
      response.writeHead(200, { "content-type": "audio/wav" });
      releases.push(() => void response.end(streamedWav(tonePcm(3))));
    });
    const ask = () => post("/v1/tts", FAKE_TTS);
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

  test("returns 429 when its queue is full, for its own requests only", async () => {
    const { post, metric } = await serve({ flags: { keyQueueDepth: "1" } }, { maxConcurrent: 1 });
    upstream.answers(held);
    const leaving = new AbortController();
    const ask = () => post("/v1/tts", FAKE_TTS, {}, leaving.signal);
    const open = [ask()];
    await upstream.isAsked(1);
    open.push(ask());
    await until("the second to wait", async () => (await metric("queue_depth")) === 1);
    assert.equal((await ask()).status, 429);
    assert.equal((await post("/v1/tts", { text: TEXT })).status, 200);
    leaving.abort();
    await Promise.allSettled(open);
  });
});

describe("The voices of a remote model", () => {
  /** `upstream` speaks `api` and answers `list` when asked for voices; another Antiphon speaks `farm`. */
  async function serve(
    list: Answer,
    options: TestServerOptions = {},
    more: object = {},
    answer: Answer = speech,
  ): Promise<TestServer> {
    upstream.answers((asked) => (asked.request.method === "GET" ? list : answer)(asked));
    const voices = { "0": "af_heart", "1": "am_michael", bella: "af_bella" };
    return startRemote(
      {
        models: { api: { checkpoint: "api" }, farm: { checkpoint: "farm" } },
        checkpoints: {
          api: { remote: { kind: "openai", urls: [upstream.url], model: "kokoro", voices, ...more } },
          farm: { remote: { kind: "antiphon", urls: [`${antiphon.url}/v1`], keyEnv: "FARM_KEY" } },
        },
        env: { FARM_KEY: antiphon.key },
      },
      options,
    );
  }

  async function listed({ get }: TestServer, model: string): Promise<string[]> {
    const reply = await get(VOICES);
    assert.equal(reply.status, 200);
    const { data } = (await reply.json()) as { data: { id: string; models: string[]; owner: string }[] };
    return data.flatMap(({ id, models, owner }) => (owner === "model" && models.includes(model) ? [id] : []));
  }

  const speak = ({ post }: TestServer, voice: string, model = "api") =>
    post("/v1/audio/speech", { input: "The tide came in.", voice, model, response_format: "pcm" });
  const voicesAsked = (): unknown[] =>
    upstream.asked.flatMap(({ body }) => (body === null ? [] : [body.voice]));

  const SAMPLE: VoiceSample = {
    clip: { samples: new Float32Array(24_000), sampleRateHz: 24_000, durationS: 1, digest: "voice:a" },
    text: "Words.",
  };

  test("are listed after those of the settings, if they can be named", async () => {
    const there = ["af_heart", "af_sky", "Bella", "nova", "1", "a+b", "x(2)", " y", "voice_abc", "a\u0000b"];
    const tones = await serve(json({ voices: there }));
    assert.deepEqual(await listed(tones, "api"), ["0", "1", "bella", "af_heart", "af_sky"]);
    assert.deepEqual(await listed(tones, "svc-beta-v0.2"), await listed(antiphon, "svc-beta-v0.2"));
  });

  test("are those of the other Antiphon, by the same names", async () => {
    const tones = await serve(json({}));
    assert.deepEqual((await listed(tones, "farm")).sort(), (await listed(antiphon, "svc-beta-v0.3")).sort());
    const reply = await speak(tones, "2", "farm");
    assert.equal(reply.status, 200);
    assert.ok((await reply.arrayBuffer()).byteLength > 0);
  });

  test("are omitted when the server cannot list them, asked once", async () => {
    for (const answer of [refusal(500), json("no"), json([null, 1, {}])]) {
      const tones = await serve(answer);
      await Promise.all([listed(tones, "api"), listed(tones, "api")]);
      assert.deepEqual(await listed(tones, "api"), ["0", "1", "bella"]);
      assert.equal(upstream.asked.length, 1);
      await tones.stop();
      server = null;
    }
  });

  test("are passed through by any name", async () => {
    const tones = await serve(refusal(404));
    const passed = ["af_sky", "en-GB/Ryan", "constructor", "__proto__"];
    for (const voice of [...passed, "bella", "BELLA"])
      assert.equal((await speak(tones, voice)).status, 200, voice);
    assert.deepEqual(voicesAsked(), [...passed, "af_bella", "af_bella"]);
    assert.equal(upstream.asked.filter(({ request }) => request.method === "GET").length, 0);
  });

  test("return 400 when the server refuses them", async () => {
    for (const status of [400, 422]) {
      const tones = await serve(json({}), {}, {}, refusal(status));
      const reply = await speak(tones, "af_skye");
      const { error } = await reply.json();
      assert.deepEqual([reply.status, error.type], [400, "invalid_request"]);
      assert.match(
        error.message,
        /^the model's server refused the voice "af_skye" \(\d+\): .*\/v1\/audio\/voices/,
      );
      assert.equal(upstream.asked.length, 1);
      assert.equal((await speak(tones, "bella")).status, 502, "a voice of the settings");
      await tones.stop();
      server = null;
    }
  });

  test("come after recordings of the same name", async () => {
    const serverVoices = new Map([["Anna", SAMPLE]]);
    const tones = await serve(json({ voices: ["anna", "Ben"] }), { serverVoices }, { references: true });
    assert.deepEqual(await listed(tones, "api"), ["0", "1", "bella", "Ben"]);
    assert.equal((await speak(tones, "ANNA")).status, 200);
    assert.equal((await speak(tones, "Ben")).status, 200);
    assert.deepEqual(voicesAsked(), [undefined, "Ben"]);
    assert.equal((await speak(tones, "voice_abc")).status, 400);
    await tones.stop();
    const plain = await serve(json({ voices: ["anna"] }), { serverVoices });
    assert.deepEqual(await listed(plain, "api"), ["0", "1", "bella", "anna"]);
    assert.equal((await speak(plain, "anna")).status, 200);
    assert.equal((await speak(plain, "voice_abc")).status, 400);
    assert.deepEqual(voicesAsked(), ["anna"]);
  });
});
