import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startTestServer, type TestServer } from "./start.ts";
import { toldTones } from "./told-tones.ts";
import { addVoice } from "./voice-form.ts";
import type { Reply } from "./wire.ts";

describe("fields that nothing reads", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ checkpoints: [toldTones([])] });
  });
  after(() => server.stop());

  const CONVERSATION = [{ speaker: "0", text: "One way." }];
  async function ignored(path: string, body: object): Promise<string | null> {
    const reply: Reply = await server.post(path, body);
    assert.equal(reply.status, 200, await reply.text());
    return reply.headers.get("x-antiphon-ignored");
  }

  for (const [what, path, body, told] of [
    ["nothing, where all are read", "/v1/tts", { text: "Hi.", params: { temperature: 1 } }, null],
    ["one that is mistyped", "/v1/tts", { text: "Hi.", temprature: 1 }, "temprature"],
    ["one further in", "/v1/tts", { text: "Hi.", params: { topk: 3, temperature: 1 } }, "params.topk"],
    [
      "what another endpoint takes",
      "/v1/tts",
      { text: "Hi.", speed: 2, instructions: "Calm." },
      "speed, instructions",
    ],
    [
      "one of a turn",
      "/v1/converse",
      { conversation: [{ ...CONVERSATION[0], txt: "?" }] },
      "conversation[0].txt",
    ],
    ["the one voice of several", "/v1/converse/stream", { conversation: CONVERSATION, voice: "1" }, "voice"],
    [
      "none by the names of voices and words",
      "/v1/converse",
      { conversation: CONVERSATION, voices: { "1": "1" }, lexicon: { a: "b" } },
      null,
    ],
    ["of OpenAI's", "/v1/audio/speech", { input: "Hi.", user: "me", stream_format: "audio" }, "user"],
    ["once each", "/v1/audio/speech", { input: "Hi.", "a b": 1, "a,b": 2 }, "a?b"],
  ] as const) {
    test(`are told in a header: ${what}`, async () => assert.equal(await ignored(path, body), told));
  }

  test("are told up to a number, whatever they are called, and how many there are more", async () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`field${at}`, at]));
    const told = await ignored("/v1/tts", { text: "Hi.", ...many });
    assert.equal(told, `${Array.from({ length: 8 }, (_, at) => `field${at}`).join(", ")}, 99992 more`);
    const odd = {
      text: "Hi.",
      "\r\nSet-Cookie: a=b": 1,
      "": 2,
      [`x${"y".repeat(300)}`]: 3,
      ключ: 4,
      __proto__x: 5,
    };
    assert.match((await ignored("/v1/tts", odd)) ?? "", /^[A-Za-z0-9_.?, [\]-]{1,700}$/);
  });

  test("of a form for a voice are told, too", async () => {
    assert.equal((await addVoice(server)).headers.get("x-antiphon-ignored"), null);
    const reply = await addVoice(server, { name: "Berta", speaker: "she", ref_txt: "?" });
    assert.equal(reply.status, 200, await reply.text());
    assert.equal(reply.headers.get("x-antiphon-ignored"), "speaker, ref_txt");
  });
});
