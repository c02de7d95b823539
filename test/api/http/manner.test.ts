import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Script } from "../../../src/core/script.ts";
import { PUBLIC_MODELS } from "../../../src/models/public-models.ts";
import { withVoiceManners } from "../../../src/server/voices/server-voices.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { toldTones } from "./told-tones.ts";

describe("instructions of POST /v1/audio/speech", () => {
  const scripts: Script[] = [];
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ checkpoints: [toldTones(scripts)] });
  });
  after(() => server.stop());

  async function speak(fields: object) {
    const reply = await server.post("/v1/audio/speech", { input: "One way.", ...fields });
    await reply.arrayBuffer();
    return reply;
  }

  test("reach the voice as figures, and a header says what is done and what is not, in every form", async () => {
    const instructions = "Slowly, cheerful, like a pirate";
    for (const form of [{}, { response_format: "wav" }, { stream_format: "sse" }]) {
      const reply = await speak({ instructions, ...form });
      assert.equal(reply.headers.get("x-antiphon-manner"), "slower, cheerful; not followed: pirate");
      const { words, figures } = scripts.at(-1)!.manner!;
      assert.equal(words, instructions);
      assert.ok(figures.tempo < 1 && figures.pitch > 1);
    }
  });

  test("are none where they are left out, null or blank", async () => {
    for (const fields of [{}, { instructions: null }, { instructions: "" }, { instructions: " \n" }]) {
      const reply = await speak(fields);
      assert.equal(reply.headers.get("x-antiphon-manner"), null);
      assert.equal("manner" in scripts.at(-1)!, false);
    }
  });

  test("put nothing into the header that could end it, whatever they are", async () => {
    const hostile = "pirate\r\nSet-Cookie: a=b; \u0000 ünïcödé 🏴‍☠️ <script>, slow";
    const reply = await speak({ instructions: hostile });
    assert.equal(reply.status, 200);
    assert.match(reply.headers.get("x-antiphon-manner") ?? "", /^slower; not followed: [a-zA-Z ,]+$/);
    assert.equal(reply.headers.get("set-cookie"), null);
  });

  test("are bounded, and are text", async () => {
    assert.equal((await speak({ instructions: "𝒳".repeat(4_096) })).status, 200);
    assert.equal((await speak({ instructions: "x".repeat(4_097) })).status, 422);
    assert.equal((await speak({ instructions: ["slow"] })).status, 422);
  });

  test("read in the thread for large bodies are the same", async () => {
    const input = "é".repeat(4_096);
    const body = JSON.stringify({ input, instructions: "Calm.", padding: "x".repeat(70_000) });
    const reply = await server.post("/v1/audio/speech", body);
    await reply.arrayBuffer();
    assert.equal(reply.headers.get("x-antiphon-manner"), "calm");
    assert.equal(scripts.at(-1)?.manner?.words, "Calm.");
  });

  test("a voice by its setting speaks so where a request has none, and else as the request has it", async (t) => {
    const told: Script[] = [];
    const models = withVoiceManners(PUBLIC_MODELS, { voices: { echo: { instructions: "calm" } } });
    const own = await startTestServer({ checkpoints: [toldTones(told)], models });
    t.after(() => own.stop());
    const wordsOf = async (fields: object, path = "/v1/audio/speech") => {
      const reply = await own.post(path, fields);
      await reply.arrayBuffer();
      assert.equal(reply.status, 200);
      return told.at(-1)?.manner?.words;
    };
    assert.equal(await wordsOf({ input: "One.", voice: "echo" }), "calm");
    assert.equal(await wordsOf({ input: "One.", voice: "echo", instructions: "sad" }), "sad");
    assert.equal(await wordsOf({ input: "One.", voice: "nova" }), undefined);
    assert.equal(await wordsOf({ text: "One.", speaker: "1" }, "/v1/tts"), "calm");
  });
});

test("a model that does nothing with them says so", async (t) => {
  const models = PUBLIC_MODELS.map((model) => ({
    ...model,
    card: { ...model.card, takes: { mixes: false, samples: false } },
  }));
  const server = await startTestServer({ models });
  t.after(() => server.stop());
  const reply = await server.post("/v1/audio/speech", { input: "One way.", instructions: "Slowly." });
  await reply.arrayBuffer();
  assert.deepEqual(
    [reply.status, reply.headers.get("x-antiphon-manner")],
    [200, "none; not followed: slower"],
  );
});
