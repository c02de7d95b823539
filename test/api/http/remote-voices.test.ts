import assert from "node:assert/strict";
import { after, afterEach, describe, test } from "node:test";
import type { VoiceSample } from "../../../src/core/script.ts";
import { type Answer, json, refusal, SpeechServer, speech } from "../../engines/remote/speech-server.ts";
import { startRemoteServer } from "./remote-server.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./start.ts";
import { VOICES } from "./voice-form.ts";

const upstream = await SpeechServer.open();
const antiphon = await startTestServer();
let server: TestServer | null = null;
afterEach(async () => {
  await server?.stop();
  server = null;
});
after(async () => {
  await upstream.close();
  await antiphon.stop();
});

/** `api` is spoken by a server of the test's, which answers to its list of voices so, and `farm` by another Antiphon. */
async function serve(
  list: Answer,
  options: TestServerOptions = {},
  more: object = {},
  answer: Answer = speech,
): Promise<TestServer> {
  upstream.answers((asked) => (asked.request.method === "GET" ? list : answer)(asked));
  const voices = { "0": "af_heart", "1": "am_michael", bella: "af_bella" };
  server = await startRemoteServer(
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
  return server;
}

interface Listed {
  readonly id: string;
  readonly models: readonly string[];
  readonly owner: string;
}

async function listed({ get }: TestServer, model: string): Promise<string[]> {
  const reply = await get(VOICES);
  assert.equal(reply.status, 200);
  const { data } = (await reply.json()) as { data: Listed[] };
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

describe("the voices of a remote model", () => {
  test("are listed beside those that the settings name, each that a request can name and that means itself", async () => {
    const there = ["af_heart", "af_sky", "Bella", "nova", "1", "a+b", "x(2)", " y", "voice_abc", "a\u0000b"];
    const tones = await serve(json({ voices: there }));
    assert.deepEqual(await listed(tones, "api"), ["0", "1", "bella", "af_heart", "af_sky"]);
    assert.deepEqual(await listed(tones, "svc-beta-v0.2"), await listed(antiphon, "svc-beta-v0.2"));
  });

  test("are those of another Antiphon, which has them by the same names", async () => {
    const tones = await serve(json({}));
    assert.deepEqual((await listed(tones, "farm")).sort(), (await listed(antiphon, "svc-beta-v0.3")).sort());
    const reply = await speak(tones, "2", "farm");
    assert.equal(reply.status, 200);
    assert.ok((await reply.arrayBuffer()).byteLength > 0);
  });

  test("that does not list them are missing, and nothing else is; it is asked once", async () => {
    for (const answer of [refusal(500), json("no"), json([null, 1, {}])]) {
      const tones = await serve(answer);
      await Promise.all([listed(tones, "api"), listed(tones, "api")]);
      assert.deepEqual(await listed(tones, "api"), ["0", "1", "bella"]);
      assert.equal(upstream.asked.length, 1);
      await tones.stop();
      server = null;
    }
  });

  test("are passed through by any name, whether it lists them or not", async () => {
    const tones = await serve(refusal(404));
    for (const voice of ["af_sky", "en-GB/Ryan", "constructor", "__proto__", "bella", "BELLA"])
      assert.equal((await speak(tones, voice)).status, 200, voice);
    assert.deepEqual(voicesAsked(), [
      "af_sky",
      "en-GB/Ryan",
      "constructor",
      "__proto__",
      "af_bella",
      "af_bella",
    ]);
    assert.equal(upstream.asked.filter(({ request }) => request.method === "GET").length, 0);
  });

  test("that it refuses are a 400 that says so, and no failure of the server", async () => {
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
      assert.equal((await speak(tones, "bella")).status, 502, "what the settings name is theirs to mend");
      await tones.stop();
      server = null;
    }
  });

  test("come after recordings of that name, and an id that no recording has is passed to nobody", async () => {
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
