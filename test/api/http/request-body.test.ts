import assert from "node:assert/strict";
import { after, test } from "node:test";
import { makeWav } from "../../audio/make-wav.ts";
import { startForTest, startTestServer } from "./start.ts";
import { assertRefused } from "./wire.ts";

const server = await startTestServer();
after(() => server.stop());

const wav = makeWav({ encoding: "s16", rateHz: 8_000, channels: [Array.from({ length: 800 }, (_, i) => i)] });
const audio = wav.toString("base64");

const refused = (path: string, body: unknown, status: number, message: RegExp, headers = {}) =>
  assertRefused(server, path, body, status, message, headers);

const CONVERSE = "/v1/converse";

test("returns 422 with the field's name for a wrong type or range", async () => {
  const turn = (fields: object) => ({ conversation: [{ text: "a" }, fields] });
  const params = (fields: unknown) => ({ text: "a", params: fields });
  const cases: [unknown, RegExp, path?: string][] = [
    [{}, /^text is missing/],
    [{ text: "" }, /^text must have at least 1 character/],
    [{ text: "x".repeat(8_001) }, /^text must have at most 8000 characters/],
    [{ text: 5 }, /^text must be a string/],
    [{ text: null }, /^text must be a string/],
    [{ text: "a", speaker: 0 }, /^speaker must be a string/],
    [{ text: "a", speaker: null }, /^speaker must be a string/],
    [{ text: "a", model: 3 }, /^model must be a string or null/],
    [params(null), /^params must be an object/],
    [params({ temperature: "0.5" }), /^params.temperature must be a number/],
    [params({ temperature: 1.6 }), /^params.temperature must be at most 1.5/],
    [params({ acoustic_temperature: -1 }), /^params.acoustic_temperature must be at least 0/],
    [params({ top_k: 1.5 }), /^params.top_k must be an integer or null/],
    [params({ audio_quality: "best" }), /^params.audio_quality must be one of low, medium/],
    [[], /must be a JSON object/],
    ["null", /must be a JSON object/],
    ['"text"', /must be a JSON object/],
    ["", /empty/],
    ["{", /not valid JSON/],
    ['{"text":"a"} trailing', /not valid JSON/],
    [{}, /^conversation is missing/, CONVERSE],
    [{ conversation: [] }, /^conversation must have at least 1 item/, CONVERSE],
    [{ conversation: Array(65).fill({ text: "a" }) }, /^conversation must have at most 64 items/, CONVERSE],
    [{ conversation: ["hello"] }, /^conversation\[0\] must be an object/, CONVERSE],
    [turn({ text: 1 }), /^conversation\[1\].text must be a string or null/, CONVERSE],
    [turn({ audio_wav_b64: {} }), /^conversation\[1\].audio_wav_b64 must be a string/, CONVERSE],
    [{ conversation: {} }, /^conversation must be an array/, `${CONVERSE}/stream`],
  ];
  for (const [body, message, path = "/v1/tts"] of cases) await refused(path, body, 422, message);
});

test("returns 422 for a body that is not declared as JSON", async () => {
  const as = (type: string) => ({ "Content-Type": type });
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/jsonx",
  ])
    await refused("/v1/tts", '{"text":"a"}', 422, /Content-Type: application\/json/, as(type));
  const headers = { Authorization: `Bearer ${server.key}` };
  assert.equal((await fetch(`${server.url}/v1/tts`, { method: "POST", headers })).status, 422);
  assert.equal(
    (await server.post("/v1/tts", { text: "a" }, as("application/json; charset=utf-8"))).status,
    200,
  );
});

test("returns 400 with the field's name for a value without meaning", async () => {
  const cases: [unknown, RegExp][] = [
    [{ text: "a", model: "" }, /^model "" is unknown/],
    [{ text: "a", model: "svc-beta-v9" }, /unknown/],
    [{ text: "a", speaker: "2" }, /^speaker must be one of the model's speakers: "0", "1"/],
    [{ text: "  \n " }, /^text is empty/],
    [{ text: "?!… —" }, /^text has nothing speakable/],
    [{ text: "🎉🎉" }, /^text has nothing speakable/],
  ];
  for (const [body, message] of cases) await refused("/v1/tts", body, 400, message);
  const conversations: [object[], RegExp][] = [
    [[{ speaker: "0" }, { text: "a" }], /^conversation\[0\] says nothing/],
    [[{ text: "b" }, { text: " " }, { text: "a" }], /^conversation\[1\] says nothing/],
    [[{ text: "" }], /^conversation\[0\].text is empty/],
    [[{ text: "a", speaker: "x" }], /^conversation\[0\].speaker "x" is none of/],
    [[{ text: "a", audio_wav_b64: audio }], /^conversation\[0\].audio_wav_b64 is not/],
    [[{ audio_wav_b64: audio }], /^conversation\[0\].audio_wav_b64 is not/],
    [[{ audio_wav_b64: "@@@" }, { text: "a" }], /^conversation\[0\].audio_wav_b64: undecodable audio/],
    [
      [{ text: "b" }, { audio_wav_b64: audio.slice(0, 100) }, { text: "a" }],
      /^conversation\[1\].audio_wav_b64: undecodable audio/,
    ],
  ];
  for (const [conversation, message] of conversations)
    await refused(CONVERSE, { conversation }, 400, message);
});

test("meters the audio of history turns by its own length", async () => {
  const conversation = [
    { audio_wav_b64: audio },
    { speaker: "1", text: "b", audio_wav_b64: `data:audio/wav;base64,${audio}` },
    { text: "a" },
  ];
  const body = await (await server.post("/v1/converse", { conversation })).json();
  assert.ok(Math.abs(body.usage.input_audio_seconds - 0.2) < 1e-9);
  assert.equal(body.usage.input_chars, 2);
});

test("takes nulls, integers with a decimal point, and unknown fields", async () => {
  const response = await server.post(
    "/v1/converse",
    '{"conversation":[{"speaker":"0","text":"a","audio_wav_b64":null,"mood":"gay"}],"model":null,' +
      '"params":{"max_new_tokens":512.0,"acoustic_temperature":null,"top_k":null},"__proto__":{"x":1},"constructor":1}',
  );
  assert.equal(response.status, 200);
});

test("speaks unusual strings and echoes them unchanged", async () => {
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

test("reads deep and wide JSON", async () => {
  const deep = `{"text":"a","x":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
  assert.equal((await server.post("/v1/tts", deep)).status, 200);
  const wide = `{"conversation":[${"{},".repeat(999_999)}{}]}`;
  await refused("/v1/converse", wide, 422, /at most 64 items/);
  const deepTurns = `{"conversation":${"[".repeat(10_000)}${"]".repeat(10_000)}}`;
  await refused("/v1/converse", deepTurns, 422, /conversation\[0\] must be an object/);
});

test("returns 400 for a body over the total cap, declared or chunked", async (t) => {
  const small = await startForTest(t, { flags: { bodyLimitBytes: "4096" } });
  const body = JSON.stringify({ text: "a", pad: "x".repeat(5_000) });
  const declared = await small.post("/v1/tts", body);
  assert.equal(declared.status, 400);
  assert.match((await declared.json()).error.message, /over the cap of 4096 bytes/);
  const chunked = await fetch(`${small.url}/v1/tts`, {
    method: "POST",
    headers: { Authorization: `Bearer ${small.key}`, "Content-Type": "application/json" },
    body: new Blob(["x".repeat(10_000)]).stream(),
    duplex: "half",
  });
  assert.equal(chunked.status, 400);
});

test("takes exactly 25 MiB of audio for a turn", async () => {
  const cap = 25 * 2 ** 20;
  const whole = Buffer.alloc(cap + 2);
  makeWav({ encoding: "s16", rateHz: 24_000, channels: [[0]] }).copy(whole);
  // A streaming writer's sizes: the data extends to the end of the file.
  whole.writeUInt32LE(0xffff_ffff, 4);
  whole.writeUInt32LE(0xffff_ffff, 40);
  const ask = (bytes: number) => ({
    conversation: [{ audio_wav_b64: whole.subarray(0, bytes).toString("base64") }, { text: "a" }],
  });
  const full = await server.post("/v1/converse", ask(cap));
  assert.equal(full.status, 200);
  assert.equal((await full.json()).usage.input_audio_seconds, (cap - 44) / 48_000);
  await assertRefused(server, "/v1/converse", ask(cap + 1), 400, /over the cap of 26214400 bytes/);
});

test("returns 400 for base64 over the audio cap, whatever it holds", async () => {
  const noWav = "A".repeat(Math.ceil((25 * 2 ** 20 + 1) / 3) * 4);
  const conversation = [{ audio_wav_b64: noWav }, { text: "a" }];
  await assertRefused(server, "/v1/converse", { conversation }, 400, /over the cap/);
});
