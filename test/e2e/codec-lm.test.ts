import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { decodeWav } from "../../src/audio/decode-wav.ts";
import { encodeWav } from "../../src/audio/encode-wav.ts";
import { toPcm16 } from "../../src/audio/pcm.ts";
import type { Recogniser } from "../../src/core/recogniser.ts";
import { runAntiphon } from "../cli/run-antiphon.ts";
import { CSM, QWEN3_TTS } from "../engines/codec-lm/goldens.ts";
import { voiceClip } from "../engines/codec-lm/speech/voice-clip.ts";
import { until, within } from "../waiting.ts";
import { type Client, clientOf, okay } from "./client.ts";
import { type CodecLmServer, startCodecLmServer } from "./codec-lm-server.ts";
import { temporaryFolder } from "./folders.ts";
import { startServerProcess, WITHOUT_MODELS } from "./server-process.ts";

const TEXT = "The birch canoe slid on the smooth planks.";
const csm = join(CSM, "csm-tiny");
const base = join(QWEN3_TTS, "tiny-base");
const wav = Buffer.from(encodeWav([toPcm16(voiceClip(220, 1.5))], 24_000));
const short = { temperature: 0, max_new_tokens: 24 };

describe("a server with codec language models", () => {
  const folder = temporaryFolder();
  const recogniser: Recogniser = {
    name: "scripted",
    memoryBytesPerS: 0,
    canTranslate: false,
    recognise: async ({ boundS }) => ({
      text: "Heard words.",
      language: "en",
      languageProbability: 1,
      speechProbability: 1,
      meanLogProbability: 0,
      segments: [],
      transcribedS: boundS,
    }),
    close: async () => {},
  };
  let server: CodecLmServer;
  let client: Client;
  before(async () => {
    const clip = join(folder, "voice.wav");
    writeFileSync(clip, wav);
    const voices = { "0": { clip, text: "" }, "1": { clip } };
    server = await startCodecLmServer(
      {
        models: { "svc-beta-v0.3": { checkpoint: "csm" }, qwen: { checkpoint: "qwen" } },
        checkpoints: {
          csm: { path: csm, precision: "fp32", maxConcurrent: 2, threads: 1 },
          qwen: { path: base, precision: "fp32", voices, threads: 1, resident: false },
        },
      },
      folder,
      // Waiting may take long on a busy machine.
      { recogniser, flags: { queueWaitMs: "60000" } },
    );
    client = clientOf(server.url, server.key);
  });
  after(() => server.stop());

  it("loads a model on its first request, and reports load_ms once", async () => {
    const metas = [];
    for (let times = 0; times < 2; times++) {
      const reply = await okay(await client.post("/v1/tts", { text: TEXT, model: "qwen", params: short }));
      metas.push(reply.meta);
    }
    assert.ok(metas[0].load_ms > 0, JSON.stringify(metas[0]));
    assert.equal("load_ms" in metas[1], false);
  });

  it("repeats byte for byte at temperature 0, whole, streamed and concurrently", async () => {
    for (const model of ["svc-beta-v0.3", "qwen"]) {
      const body = { text: TEXT, model, params: short };
      const alone = await client.tts(body);
      assert.ok(alone.length > 0);
      assert.deepEqual(await client.tts(body), alone);
      const talk = { conversation: [{ text: TEXT }], model, params: short };
      const noise = {
        ...body,
        text: "Glue the sheet to the blue background.",
        params: { max_new_tokens: 40 },
      };
      const [first, streamed, second] = await Promise.all([
        client.tts(body),
        client.streamed(talk),
        client.tts(body),
        client.tts(noise),
        client.tts({ ...noise, speaker: "1" }),
      ]);
      for (const each of [first, streamed, second]) assert.ok(each.equals(alone), model);
    }
  });

  it("transcribes turns without text if there is a recogniser", async () => {
    const conversation = [
      { speaker: "0", audio_wav_b64: wav.toString("base64") },
      { speaker: "1", text: TEXT },
    ];
    for (const [model, heard] of [
      ["svc-beta-v0.3", ["Heard words."]],
      ["qwen", []],
      ["svc-beta-v0.2", []],
    ] as const) {
      const { meta } = await okay(await client.post("/v1/converse", { conversation, model, params: short }));
      const texts = (meta.heard ?? []).map(({ text }: { text: string }) => text);
      assert.deepEqual(texts, heard, model);
      if (model === "svc-beta-v0.3") assert.deepEqual(meta.prompt.turns, [0]);
    }
  });

  it("stops when the client leaves, waiting or speaking", async () => {
    const body = { text: `${TEXT} `.repeat(6), params: { max_new_tokens: 2_048 } };
    const leave = new AbortController();
    const waiting = Array.from({ length: 6 }, () => client.post("/v1/tts", body, leave.signal));
    await until(
      "two to be computed and four to wait",
      async () => (await server.metric("queue_depth")) === 4,
    );
    leave.abort();
    for (const reply of waiting) await assert.rejects(reply);
    const stream = client.stream({ conversation: [{ text: TEXT }] });
    await within("an event", stream.next());
    await stream.return();
    const later = client.stream({ conversation: [{ text: TEXT }] });
    for (let event = 0; event < 4; event++) await within("an event", later.next());
    await later.return();
    await until("all to be over", async () => (await server.begun()) === 0);
    await until("the thread to be idle", () => server.local.get("csm")!.pool()!.stats().open === 0);
    assert.ok((await client.tts({ text: TEXT, params: short })).length > 0);
  });

  it("refuses speech without a voice, with the remedy", async () => {
    const none = await startCodecLmServer(
      { models: { qwen: { checkpoint: "qwen" } }, checkpoints: { qwen: { path: base, precision: "fp32" } } },
      folder,
    );
    const reply = await clientOf(none.url, none.key).post("/v1/tts", { text: TEXT, model: "qwen" });
    assert.equal(reply.status, 400);
    assert.match((await reply.json()).error.message, /audio_wav_b64/);
    await none.stop();
  });
});

describe("antiphon with a codec language model", () => {
  const folder = temporaryFolder();
  const config = join(folder, "antiphon.json");
  const dataDir = join(folder, "data");
  before(() => {
    const settings = {
      models: { "svc-beta-v0.3": { checkpoint: "own" } },
      checkpoints: { own: { path: csm, maxConcurrent: 2 } },
    };
    writeFileSync(config, JSON.stringify(settings));
  });

  it("serves it, lists it, and ends while it speaks", async () => {
    const env = { ANTIPHON_SHUTDOWN_GRACE_MS: "500" };
    const server = await startServerProcess({ dataDir, env, flags: ["--config", config] });
    const client = clientOf(server.url, server.key);
    const { backend, param_schema: knobs } = await okay(await client.get("/v1/info"));
    assert.deepEqual([backend.name, backend.kind], ["own", "codec-lm"]);
    for (const { name, unused_by: unused } of knobs) assert.ok(!("svc-beta-v0.3" in unused), name);
    const [card] = (await okay(await client.get("/v1/models"))).data;
    assert.match(card.description, /“own”, a CSM: it reads the earlier turns/);
    assert.deepEqual([card.modes.length, card.speakers], [2, ["0", "1"]]);
    assert.ok((await client.tts({ text: TEXT, params: short })).length > 0);
    const stream = client.stream({ conversation: [{ text: TEXT }], params: { max_new_tokens: 2_048 } });
    await within("an event", stream.next());
    const ended = server.stop();
    for await (const _ of stream);
    assert.equal((await ended).code, 0);
  });

  it("speaks with it, and lists it", async () => {
    const line = ["--config", config, "--data-dir", dataDir];
    const params = JSON.stringify(short);
    const said = await runAntiphon(["say", TEXT, "--params", params, ...line]);
    assert.equal(said.code, 0, said.stderr);
    assert.ok(decodeWav(said.bytes).durationS > 0.5);
    const listed = JSON.parse((await runAntiphon(["models", "list", "--json", ...line])).stdout);
    assert.deepEqual([listed.models[0].checkpoint, listed.models[0].installed], ["own", true]);
    const own = listed.checkpoints.find(({ name }: { name: string }) => name === "own");
    assert.deepEqual([own.kind, own.state, own.path], ["voice", "installed", csm]);
  });

  it("refuses an unusable checkpoint at start, by the setting's name", async () => {
    const env = {
      ...WITHOUT_MODELS,
      ANTIPHON_MODELS: JSON.stringify({ a: { checkpoint: "own" } }),
      ANTIPHON_CHECKPOINTS: JSON.stringify({ own: { path: folder } }),
    };
    const { code, stderr } = await runAntiphon(["serve", "--port", "0", "--data-dir", dataDir], { env });
    assert.equal(code, 1);
    assert.match(stderr, /^The setting checkpoints\.own\.path names a folder that cannot be used: config/);
  });

  it("refuses a budget that is too small, with the figures", async () => {
    const env = { ...WITHOUT_MODELS, ANTIPHON_MEMORY_BUDGET_MB: "256" };
    const { code, stderr } = await runAntiphon(
      ["serve", "--port", "0", ...["--config", config, "--data-dir", dataDir]],
      { env },
    );
    assert.equal(code, 1);
    assert.match(stderr, /needs \d+ MiB together with the models that stay loaded, more than the 256 MiB of/);
  });
});
