import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Script } from "../../../../src/core/script.ts";
import { ACCEPTED } from "../../../../src/text/phonemes/given-phonemes.ts";
import { recordingTones, startTestServer, type TestServer } from "../start.ts";

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
  server = await startTestServer({ checkpoints: [recordingTones(scripts)], serverVoices });
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

describe("Markup", () => {
  it("is spoken by every route, with its pauses", async () => {
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

  it("is refused when its pauses alone exceed one reply", async () => {
    const input = `Hi ${"[pause:10s]".repeat(70)}`;
    const { message } = await refusal("/v1/audio/speech", {
      model: "tts-1",
      input,
      response_format: "wav",
    });
    assert.match(message, /^input: its pauses are 700 s long, and a reply may be 655 s: shorten them/);
  });

  it("is billed for its spoken text, and words keep their offsets", async () => {
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

  it("reports cautions in a header when the reply has no meta", async () => {
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

  it("is SSML or plain text by input_type, or by its form", async () => {
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

  it("is refused with field, line and column when it is malformed", async () => {
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

  it("names voices of the model and recordings", async () => {
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

  it("has nothing speakable when it only has pauses", async () => {
    assert.match((await refusal("/v1/tts", { text: "[pause:1s]" })).message, /^text has nothing speakable/);
    assert.match(
      (await refusal("/v1/tts", { text: "<speak><break/></speak>" })).message,
      /nothing speakable/,
    );
    const pcm = await server.post("/v1/audio/speech", { input: "[pause:1.5s]", response_format: "pcm" });
    assert.equal((await pcm.arrayBuffer()).byteLength, 1.5 * 48_000);
  });

  it("pauses no longer than max_new_tokens allows", async () => {
    const text = `Hello ${"[pause:10s]".repeat(600)} world.`;
    const { usage, meta } = await tts(text, { params: { max_new_tokens: 50 } });
    assert.equal(usage.output_audio_seconds, 4);
    assert.equal(meta.stop, "length");
  });

  it("enters the history as its words", async () => {
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

async function refused(fields: object, status: number, message: string, text = "Hello."): Promise<void> {
  for (const [path, , body] of ROUTES) {
    const reply = await server.post(path, { ...body(text), ...fields });
    assert.equal(reply.status, status, path);
    const { error } = await reply.json();
    assert.equal(error.type, "invalid_request");
    assert.match(error.message, new RegExp(message), path);
  }
}

describe("A request's lexicon", () => {
  it("reaches the engine from every speaking route", async () => {
    for (const [path, , body] of ROUTES) {
      const lexicon = { SQL: "sequel", kubernetes: "/kˌubɚnˈɛtiz/" };
      const reply = await server.post(path, { ...body("Hello."), lexicon });
      assert.equal(reply.status, 200, path);
      await reply.arrayBuffer();
      assert.deepEqual(scripts.at(-1)?.lexicon, Object.entries(lexicon), path);
    }
  });

  it("is absent when it is empty", async () => {
    for (const fields of [{}, { lexicon: {} }]) {
      await (await server.post("/v1/tts", { text: "Hello.", ...fields })).arrayBuffer();
      assert.equal(scripts.at(-1)?.lexicon, undefined);
    }
  });

  it("changes the seed at temperature 0, whatever its order", async () => {
    const seed = async (fields: object) => {
      await (
        await server.post("/v1/tts", { text: "Hello.", params: { temperature: 0 }, ...fields })
      ).arrayBuffer();
      return scripts.at(-1)?.seed;
    };
    assert.equal(await seed({}), await seed({ lexicon: {} }));
    assert.notEqual(await seed({}), await seed({ lexicon: { a: "b" } }));
    assert.equal(await seed({ lexicon: { a: "b", c: "d" } }), await seed({ lexicon: { c: "d", a: "b" } }));
  });

  it("is refused with 422 and the entry's name for a wrong shape", async () => {
    for (const [path, , body] of ROUTES) {
      const { status } = await server.post(path, { ...body("Hello."), lexicon: null });
      assert.equal(status, path === "/v1/audio/speech" ? 200 : 422, path);
    }
    await refused({ lexicon: ["a"] }, 422, "^lexicon must be an object");
    await refused({ lexicon: { a: 1 } }, 422, '^lexicon\\["a"\\] must be a string');
    await refused({ lexicon: { "a/b~": 1 } }, 422, '^lexicon\\["a/b~"\\] must be a string');
    await refused({ lexicon: { a: "" } }, 422, '^lexicon\\["a"\\] must have at least 1 character');
    await refused(
      { lexicon: { a: "x".repeat(201) } },
      422,
      '^lexicon\\["a"\\] must have at most 200 characters',
    );
    await refused(
      { lexicon: { ["x".repeat(65)]: "y" } },
      422,
      "^the name of a member of lexicon .* at most 64",
    );
    await refused(
      { lexicon: { ["x".repeat(5_000)]: "y" } },
      422,
      "^the name of a member of lexicon .* at most 64",
    );
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`w${index}`, "x"]));
    await refused({ lexicon: many }, 422, "^lexicon must have at most 100 members");
  });

  it("is refused with 400 and the entry's name for a wrong meaning", async () => {
    await refused(
      { lexicon: { a: "/fˈ9/" } },
      400,
      '^lexicon\\["a"\\]: character 4 of what is said \\("9"\\) is not a phoneme: write phonemes as ',
    );
    await refused({ lexicon: { a: "/fˈu" } }, 400, "begins with a slash and does not end with one");
    await refused({ lexicon: { "?": "x" } }, 400, '^lexicon\\["\\?"\\]: the word has no letter or digit');
    await refused({ lexicon: { a: "…" } }, 400, "what is said has no letter or digit");
  });
});

it("publishes a pattern that matches exactly the accepted phonemes", async () => {
  const { components } = await (await server.get("/openapi.json")).json();
  const { pattern } = components.schemas.TtsRequest.properties.lexicon.additionalProperties;
  const published = new RegExp(pattern, "u");
  for (const sign of ACCEPTED) assert.ok(published.test(`/u${sign}u/`), sign);
  for (const said of ["/c/", "/t\u0361s/", "/\u0329n/", "/ˈ/", "//", "/u"])
    assert.ok(!published.test(said), said);
});

describe("Phonemes in a text", () => {
  it("are refused with 400, their field and position", async () => {
    const message =
      '^(text|input|conversation\\[1\\]\\.text): character 10 \\("9"\\) is not a phoneme: write phonemes as ';
    await refused({}, 400, message, "[Foo](/fˈ9/) it");
  });

  it("are not parsed in a link to an address", async () => {
    const reply = await server.post("/v1/tts", { text: "[Foo](/about/) [bar](https://a.example/) it" });
    assert.equal(reply.status, 200);
  });
});
