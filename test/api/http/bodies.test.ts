import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeWav } from "../../audio/make-wav.ts";
import { assertRefused } from "./refused.ts";
import { startTestServer, type TestServer } from "./start.ts";
import type { Reply } from "./wire.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

const wav = makeWav({ encoding: "s16", rateHz: 8_000, channels: [Array.from({ length: 800 }, (_, i) => i)] });
const audio = wav.toString("base64");

const refused = (path: string, body: unknown, status: number, message: RegExp, headers = {}) =>
  assertRefused(server, path, body, status, message, headers);

const BAD_SHAPES: [string, unknown, RegExp][] = [
  ["/v1/tts", {}, /^text is missing/],
  ["/v1/tts", { text: "" }, /^text must have at least 1 character/],
  ["/v1/tts", { text: "x".repeat(8_001) }, /^text must have at most 8000 characters/],
  ["/v1/tts", { text: 5 }, /^text must be a string/],
  ["/v1/tts", { text: null }, /^text must be a string/],
  ["/v1/tts", { text: "a", speaker: 0 }, /^speaker must be a string/],
  ["/v1/tts", { text: "a", speaker: null }, /^speaker must be a string/],
  ["/v1/tts", { text: "a", model: 3 }, /^model must be a string or null/],
  ["/v1/tts", { text: "a", params: null }, /^params must be an object/],
  ["/v1/tts", { text: "a", params: { temperature: "0.5" } }, /^params.temperature must be a number/],
  ["/v1/tts", { text: "a", params: { temperature: null } }, /^params.temperature must be a number/],
  ["/v1/tts", { text: "a", params: { temperature: 1.6 } }, /^params.temperature must be at most 1.5/],
  [
    "/v1/tts",
    { text: "a", params: { acoustic_temperature: -1 } },
    /^params.acoustic_temperature must be at least 0/,
  ],
  ["/v1/tts", { text: "a", params: { top_k: 0 } }, /^params.top_k must be at least 1/],
  ["/v1/tts", { text: "a", params: { top_k: 1.5 } }, /^params.top_k must be an integer or null/],
  ["/v1/tts", { text: "a", params: { repetition_penalty: 7 } }, /^params.repetition_penalty/],
  ["/v1/tts", { text: "a", params: { penalty_window: 0 } }, /^params.penalty_window/],
  ["/v1/tts", { text: "a", params: { max_new_tokens: 15 } }, /^params.max_new_tokens must be at least 16/],
  ["/v1/tts", { text: "a", params: { max_new_tokens: 2049 } }, /^params.max_new_tokens must be at most 2048/],
  [
    "/v1/tts",
    { text: "a", params: { audio_quality: "best" } },
    /^params.audio_quality must be one of low, medium/,
  ],
  ["/v1/tts", '{"text":"a","params":{"temperature":1e400}}', /^params.temperature/],
  ["/v1/tts", [], /must be a JSON object/],
  ["/v1/tts", "null", /must be a JSON object/],
  ["/v1/tts", '"text"', /must be a JSON object/],
  ["/v1/tts", "", /empty/],
  ["/v1/tts", "{", /not valid JSON/],
  ["/v1/tts", '{"text":"a"} trailing', /not valid JSON/],
  ["/v1/converse", {}, /^conversation is missing/],
  ["/v1/converse", { conversation: [] }, /^conversation must have at least 1 item/],
  [
    "/v1/converse",
    { conversation: Array(65).fill({ text: "a" }) },
    /^conversation must have at most 64 items/,
  ],
  ["/v1/converse", { conversation: ["hello"] }, /^conversation\[0\] must be an object/],
  [
    "/v1/converse",
    { conversation: [{ text: "a" }, { text: 1 }] },
    /^conversation\[1\].text must be a string or null/,
  ],
  [
    "/v1/converse",
    { conversation: [{ audio_wav_b64: {} }] },
    /^conversation\[0\].audio_wav_b64 must be a string/,
  ],
  ["/v1/converse/stream", { conversation: {} }, /^conversation must be an array/],
];

test("a body of the wrong shape is a 422 that names the field", async () => {
  for (const [path, body, message] of BAD_SHAPES) await refused(path, body, 422, message);
});

test("a body that is not declared as JSON is a 422", async () => {
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/jsonx",
  ]) {
    await refused("/v1/tts", '{"text":"a"}', 422, /Content-Type: application\/json/, {
      "Content-Type": type,
    });
  }
  const bare = await fetch(`${server.url}/v1/tts`, {
    method: "POST",
    headers: { Authorization: `Bearer ${server.key}` },
  });
  assert.equal(bare.status, 422);
  const ok = await server.post(
    "/v1/tts",
    { text: "a" },
    { "Content-Type": "application/json; charset=utf-8" },
  );
  assert.equal(ok.status, 200);
});

test("a body that is not UTF-8 is a 422", async () => {
  const body = Buffer.concat([Buffer.from('{"text":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
  const response = await fetch(`${server.url}/v1/tts`, {
    method: "POST",
    headers: { Authorization: `Bearer ${server.key}`, "Content-Type": "application/json" },
    body,
  });
  assert.equal(response.status, 422);
});

const BAD_MEANINGS: [string, unknown, RegExp][] = [
  ["/v1/tts", { text: "a", model: "" }, /^model "" is unknown/],
  ["/v1/tts", { text: "a", model: "svc-beta-v9" }, /unknown/],
  ["/v1/tts", { text: "a", speaker: "2" }, /^speaker must be one of the model's speakers: "0", "1"/],
  ["/v1/tts", { text: "  \n " }, /^text is empty/],
  ["/v1/tts", { text: "?!… —" }, /^text has nothing speakable/],
  ["/v1/tts", { text: "🎉🎉" }, /^text has nothing speakable/],
  ["/v1/converse", { conversation: [{ speaker: "0" }, { text: "a" }] }, /^conversation\[0\] says nothing/],
  [
    "/v1/converse",
    { conversation: [{ text: "b" }, { text: " " }, { text: "a" }] },
    /^conversation\[1\] says nothing/,
  ],
  ["/v1/converse", { conversation: [{ text: "" }] }, /^conversation\[0\].text is empty/],
  [
    "/v1/converse",
    { conversation: [{ text: "a", speaker: "x" }] },
    /^conversation\[0\].speaker must be one of/,
  ],
  [
    "/v1/converse",
    { conversation: [{ text: "a", audio_wav_b64: audio }] },
    /^conversation\[0\].audio_wav_b64 is not/,
  ],
  ["/v1/converse", { conversation: [{ audio_wav_b64: audio }] }, /^conversation\[0\].audio_wav_b64 is not/],
  [
    "/v1/converse",
    { conversation: [{ audio_wav_b64: "@@@" }, { text: "a" }] },
    /^conversation\[0\].audio_wav_b64: undecodable audio/,
  ],
  [
    "/v1/converse",
    { conversation: [{ text: "b" }, { audio_wav_b64: audio.slice(0, 100) }, { text: "a" }] },
    /^conversation\[1\].audio_wav_b64: undecodable audio/,
  ],
];

test("a body that means nothing sensible is a 400 that says where", async () => {
  for (const [path, body, message] of BAD_MEANINGS) await refused(path, body, 400, message);
});

test("audio in a history turn is metered by its length as it was sent", async () => {
  const conversation = [
    { audio_wav_b64: audio },
    { speaker: "1", text: "b", audio_wav_b64: `data:audio/wav;base64,${audio}` },
    { text: "a" },
  ];
  const body = await (await server.post("/v1/converse", { conversation })).json();
  assert.ok(Math.abs(body.usage.input_audio_seconds - 0.2) < 1e-9);
  assert.equal(body.usage.input_chars, 2);
});

test("what the table allows is taken: nulls, integers written with a point, unknown fields", async () => {
  const response = await server.post(
    "/v1/converse",
    '{"conversation":[{"speaker":"0","text":"a","audio_wav_b64":null,"mood":"gay"}],"model":null,' +
      '"params":{"max_new_tokens":512.0,"acoustic_temperature":null,"top_k":null},"__proto__":{"x":1},"constructor":1}',
  );
  assert.equal(response.status, 200);
});

test("strange strings are spoken or refused, and echoed as they were", async () => {
  for (const text of [
    "nul \u0000 inside",
    "lone \ud800 surrogate",
    "\u202eright to left",
    "a\u0301 combining",
  ]) {
    const response = await server.post("/v1/tts", { text });
    assert.equal(response.status, 200);
    assert.equal((await response.json()).text, text);
  }
});

test("deep and wide JSON is answered at once", async () => {
  const deep = `{"text":"a","x":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
  assert.equal((await server.post("/v1/tts", deep)).status, 200);
  const wide = `{"conversation":[${"{},".repeat(999_999)}{}]}`;
  await refused("/v1/converse", wide, 422, /at most 64 items/);
  const deepTurns = `{"conversation":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
  await refused("/v1/converse", deepTurns, 422, /conversation\[0\] must be an object/);
});

test("a body over the total cap is a 400, whether its length is declared or not", async () => {
  const small = await startTestServer({ flags: { bodyLimitBytes: "4096" } });
  try {
    const body = JSON.stringify({ text: "a", pad: "x".repeat(5_000) });
    const declared = await small.post("/v1/tts", body);
    assert.equal(declared.status, 400);
    assert.match((await declared.json()).error.message, /over the cap of 4096 bytes/);
    const chunked: Reply = await fetch(`${small.url}/v1/tts`, {
      method: "POST",
      headers: { Authorization: `Bearer ${small.key}`, "Content-Type": "application/json" },
      body: new ReadableStream({
        start(controller) {
          for (let i = 0; i < 10; i++) controller.enqueue(new TextEncoder().encode("x".repeat(1_000)));
          controller.close();
        },
      }),
      duplex: "half",
    } as RequestInit);
    assert.equal(chunked.status, 400);
  } finally {
    await small.stop();
  }
});
