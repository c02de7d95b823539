import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Script } from "../../../src/core/script.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { toldTones } from "./told-tones.ts";

const ANN = {
  samples: new Float32Array(48_000).fill(0.1),
  sampleRateHz: 24_000,
  durationS: 2,
  digest: "ann",
};

let server: TestServer;
const scripts: Script[] = [];
before(async () => {
  const serverVoices = new Map([["Ann", { clip: ANN, text: null }]]);
  server = await startTestServer({ checkpoints: [toldTones(scripts)], serverVoices });
});
after(() => server.stop());

const ROUTES: readonly (readonly [path: string, field: string, body: (text: string) => object])[] = [
  ["/v1/tts", "text", (text) => ({ text })],
  ["/v1/converse", "conversation[1].text", (text) => ({ conversation: [{ text: "Hi." }, { text }] })],
  ["/v1/converse/stream", "conversation[1].text", (text) => ({ conversation: [{ text: "Hi." }, { text }] })],
  ["/v1/audio/speech", "input", (input) => ({ model: "tts-1", input })],
];

const TEXT =
  '<speak>Hello <break time="1s"/> AT&amp;T <lang xml:lang="fr">monde</lang>.<mark name="end"/></speak>';

/** What `POST /v1/tts` makes of a text. */
async function tts(text: string, fields: object = {}) {
  const reply = await server.post("/v1/tts", { text, ...fields });
  assert.equal(reply.status, 200, text);
  return reply.json();
}

async function refusal(path: string, body: object) {
  const reply = await server.post(path, body);
  assert.equal(reply.status, 400, JSON.stringify(body));
  return (await reply.json()).error;
}

describe("a text with marks", () => {
  it("is spoken from every route, with its pauses", async () => {
    for (const [path, , body] of ROUTES)
      for (const text of [TEXT, "Hello [pause:1s] world."]) {
        const reply = await server.post(path, body(text));
        assert.equal(reply.status, 200, path);
        await reply.arrayBuffer();
      }
    const { meta, usage } = await tts("Hello [pause:2s] world.");
    const plain = await tts("Hello world.");
    const moreS = usage.output_audio_seconds - plain.usage.output_audio_seconds;
    assert.ok(Math.abs(moreS - 2) < 0.1, `${moreS}`);
    assert.deepEqual(
      meta.words.map(({ word }: { word: string }) => word),
      ["Hello", "world"],
    );
  });

  it("whose pauses alone are longer than a reply may be is refused where all of it is spoken", async () => {
    const input = `Hi ${"[pause:10s]".repeat(70)}`;
    const { message } = await refusal("/v1/audio/speech", { model: "tts-1", input, response_format: "wav" });
    assert.match(message, /^input: its pauses are 700 s long, and a reply may be 655 s: shorten them/);
  });

  it("is billed for what is spoken, and its words are told where it has them", async () => {
    const { usage, text, meta } = await tts(TEXT);
    assert.equal(usage.input_chars, [..."Hello  AT&T monde."].length);
    assert.equal(text, TEXT);
    for (const { word, offset, length } of meta.words)
      assert.equal([...TEXT].slice(offset, offset + length).join(""), word);
    assert.deepEqual(meta.cautions, ["<lang> xml:lang fr is ignored: English is spoken"]);
    const plain = await tts("Hello world.");
    assert.equal(plain.meta.cautions, undefined);
    assert.equal(plain.usage.input_chars, 12);
    assert.equal((await tts("[Ann](/ˈæn/) sang. [pause:1s]")).usage.input_chars, "Ann sang. ".length);
  });

  it("tells in a header what is not followed, where there is no meta", async () => {
    const told = async (input: string) => {
      const reply = await server.post("/v1/audio/speech", { input });
      await reply.arrayBuffer();
      return reply.headers.get("x-antiphon-cautions");
    };
    assert.equal(await told(TEXT), "<lang> xml:lang fr is ignored: English is spoken");
    assert.equal(await told("<speak>Hello.</speak>"), null);
    assert.match(
      (await told("<speak><été/><foo/>Hello.</speak>"))!,
      /^<\?t\?> is ignored: its content is spoken; <foo> /,
    );
  });

  it("is SSML or plain text as input_type says, or by its looks", async () => {
    const speak = "<speak>Hello.</speak>";
    assert.deepEqual(
      (await tts(speak)).meta.words.map(({ word }: { word: string }) => word),
      ["Hello"],
    );
    assert.equal((await tts(speak, { input_type: "text" })).usage.input_chars, speak.length);
    assert.equal((await tts(speak, { input_type: "ssml" })).usage.input_chars, 6);
    const error = await refusal("/v1/tts", { text: "Hello.", input_type: "ssml" });
    assert.equal(
      error.message,
      "text: line 1, column 1: SSML begins with <speak>: put <speak>…</speak> around it",
    );
    const reply = await server.post("/v1/tts", { text: "Hello.", input_type: "xml" });
    assert.equal(reply.status, 422);
    const { usage } = await tts("a < b and <c>");
    assert.equal(usage.input_chars, 13);
  });

  it("is refused with its field, line and column where it cannot be read", async () => {
    const wrong: readonly (readonly [text: string, message: RegExp])[] = [
      ["<speak>\nHello <p>there", /line 2, column 7: <p> is never closed/],
      [`<speak>${"<s>".repeat(400)}Hi.${"</s>".repeat(400)}</speak>`, /elements may lie at most 64 deep/],
      [
        "<?xml version='1.0'?><!DOCTYPE speak [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><speak>&x;</speak>",
        /document type/,
      ],
      [
        `<speak ${Array.from({ length: 200 }, (_, at) => `a${at}="x"`).join(" ")}>Hi.</speak>`,
        /at most 32 attributes/,
      ],
      ['<speak><break time="9999h"/>Hi.</speak>', /time cannot be read: write seconds/],
      ['<speak><say-as interpret-as="nonsense">Hi.</say-as></speak>', /interpret-as of <say-as> is unknown/],
      [
        '<speak><voice name="novva">Hi.</voice></speak>',
        /column 8: voice "novva" is unknown: did you mean "nova"\?/,
      ],
      ["Hello [pause:60s] you.", /column 7: \[pause:…\] may be at most 10 s/],
      ["<speak>[Ann](/9ˈ/)</speak>", /is not a phoneme/],
    ];
    for (const [path, field, body] of ROUTES)
      for (const [text, message] of wrong) {
        const error = await refusal(path, body(text));
        assert.match(error.message, message, path);
        assert.ok(error.message.startsWith(`${field}: `), error.message);
      }
  });

  it("names voices as requests do: the model's own, recordings, and the first that there is", async () => {
    const named = async (name: string) => {
      await tts(`<speak>Hello <voice name="${name}">there</voice>.</speak>`);
      return Object.entries(scripts.at(-1)!.textVoices ?? {});
    };
    assert.deepEqual(await named("nova"), [["nova", { voice: [{ weight: 1, id: "0" }], speaker: "0" }]]);
    assert.deepEqual(await named("Ann"), [
      ["Ann", { voice: [{ weight: 1, sample: { clip: ANN, text: null } }] }],
    ]);
    assert.deepEqual((await named("nobody onyx"))[0]![0], "onyx");
    assert.equal((await tts("Hello.")).meta.cautions, undefined);
    assert.equal(scripts.at(-1)!.textVoices, undefined);
    const { message } = await refusal("/v1/tts", { text: '<speak><voice name="Annn">Hi.</voice></speak>' });
    assert.match(message, /^text: line 1, column 8: voice "Annn" is unknown: did you mean "Ann"\?/);
    const many = Array.from({ length: 17 }, (_, at) => `<voice name="v${at}">Hi.</voice>`).join("");
    assert.match(
      (await refusal("/v1/tts", { text: `<speak>${many}</speak>` })).message,
      /at most 16 voices: use fewer$/,
    );
    const mixed = await refusal("/v1/tts", {
      text: '<speak><voice name="nova(1)+onyx(1)">Hi.</voice></speak>',
    });
    assert.match(mixed.message, /line 1, column 8: voice asks for a mix/);
  });

  it("has nothing to speak where it has only pauses; clients that send such are given silence", async () => {
    assert.match((await refusal("/v1/tts", { text: "[pause:1s]" })).message, /^text has nothing speakable/);
    assert.match(
      (await refusal("/v1/tts", { text: "<speak><break/></speak>" })).message,
      /nothing speakable/,
    );
    const pcm = await server.post("/v1/audio/speech", { input: "[pause:1.5s]", response_format: "pcm" });
    assert.equal((await pcm.arrayBuffer()).byteLength, 1.5 * 48_000);
  });

  it("pauses for no longer than its audio may be", async () => {
    const text = `Hello ${"[pause:10s]".repeat(600)} world.`;
    const { usage, meta } = await tts(text, { params: { max_new_tokens: 50 } });
    assert.equal(usage.output_audio_seconds, 4);
    assert.equal(meta.stop, "length");
  });

  it("is read as its words by whoever goes on with the conversation", async () => {
    const conversation = [
      { text: '<speak>It is <break/> <sub alias="Ann">A.</sub></speak>' },
      { speaker: "1", text: "Well [pause:1s] yes." },
      { text: "Good." },
    ];
    await (await server.post("/v1/converse", { conversation })).arrayBuffer();
    assert.deepEqual(
      scripts.at(-1)!.history.map(({ text }) => text),
      ["It is Ann", "Well  yes."],
    );
  });
});
