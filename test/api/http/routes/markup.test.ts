import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { Script } from "../../../../src/core/script.ts";
import { ACCEPTED } from "../../../../src/text/phonemes/given-phonemes.ts";
import { recordingTones, startTestServer } from "../start.ts";

const ANN = {
  samples: new Float32Array(48_000).fill(0.1),
  sampleRateHz: 24_000,
  durationS: 2,
  digest: "ann",
};

const scripts: Script[] = [];
const serverVoices = new Map([["Ann", { clip: ANN, text: null }]]);
const server = await startTestServer({ checkpoints: [recordingTones(scripts)], serverVoices });
after(() => server.stop());

const ROUTES: readonly (readonly [path: string, field: string, body: (text: string) => object])[] = [
  ["/v1/tts", "text", (text) => ({ text })],
  ["/v1/converse", "conversation[1].text", (text) => ({ conversation: [{ text: "Hi." }, { text }] })],
  ["/v1/converse/stream", "conversation[1].text", (text) => ({ conversation: [{ text: "Hi." }, { text }] })],
  ["/v1/audio/speech", "input", (input) => ({ model: "tts-1", input })],
];

const TEXT =
  '<speak>Hello <break time="1s"/> AT&amp;T <lang xml:lang="fr">monde</lang>.<mark name="end"/></speak>';

/** The reply of `POST /v1/tts`. */
async function tts(text: string, fields: object = {}) {
  const reply = await server.post("/v1/tts", { text, ...fields });
  assert.equal(reply.status, 200, text);
  return reply.json();
}

const wordsOf = (meta: { words: { word: string }[] }) => meta.words.map(({ word }) => word);

async function refusal(path: string, body: object): Promise<string> {
  const reply = await server.post(path, body);
  assert.equal(reply.status, 400, JSON.stringify(body));
  const { error } = await reply.json();
  assert.equal(error.type, "invalid_request");
  return error.message;
}
const ttsRefusal = (text: string) => refusal("/v1/tts", { text });

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
    assert.deepEqual(wordsOf(meta), ["Hello", "world"]);
  });

  it("is refused when its pauses exceed 600 s", async () => {
    const input = `Hi ${"[pause:10s]".repeat(70)}`;
    const message = await refusal("/v1/audio/speech", { model: "tts-1", input, response_format: "wav" });
    assert.match(
      message,
      /^input: its pauses last 700 s together, and at most 600 s are allowed: shorten them/,
    );
  });

  it("is billed for its spoken text, and words keep their offsets", async () => {
    const { usage, text, meta } = await tts(TEXT);
    assert.equal(usage.input_chars, [..."Hello  AT&T monde."].length);
    assert.equal(text, TEXT);
    for (const { word, offset, length } of meta.words)
      assert.equal([...TEXT].slice(offset, offset + length).join(""), word);
    assert.deepEqual(meta.cautions, ["<lang> xml:lang fr is ignored"]);
    const plain = await tts("Hello world.");
    assert.equal(plain.meta.cautions, undefined);
    assert.equal(plain.usage.input_chars, 12);
    assert.equal((await tts("[Ann](/ˈæn/) sang. [pause:1s]")).usage.input_chars, "Ann sang. ".length);
  });

  it("reports cautions in a header when the reply has no meta", async () => {
    const cautionsFor = async (input: string) => {
      const reply = await server.post("/v1/audio/speech", { input });
      await reply.arrayBuffer();
      return reply.headers.get("x-antiphon-cautions");
    };
    assert.equal(await cautionsFor(TEXT), "<lang> xml:lang fr is ignored");
    assert.equal(await cautionsFor("<speak>Hello.</speak>"), null);
    const escaped = await cautionsFor("<speak><été/><foo/>Hello.</speak>");
    assert.match(`${escaped}`, /^<\?t\?> is ignored: its content is spoken; <foo> /);
  });

  it("is SSML or plain text by input_type, or by its form", async () => {
    const speak = "<speak>Hello.</speak>";
    assert.deepEqual(wordsOf((await tts(speak)).meta), ["Hello"]);
    assert.equal((await tts(speak, { input_type: "text" })).usage.input_chars, speak.length);
    assert.equal((await tts(speak, { input_type: "ssml" })).usage.input_chars, 6);
    assert.equal(
      await refusal("/v1/tts", { text: "Hello.", input_type: "ssml" }),
      "text: line 1, column 1: SSML begins with <speak>: put <speak>…</speak> around it",
    );
    assert.equal((await server.post("/v1/tts", { text: "Hello.", input_type: "xml" })).status, 422);
    assert.equal((await tts("a < b and <c>")).usage.input_chars, 13);
  });

  it("is refused with field, line and column when it is malformed", async () => {
    const attributes = Array.from({ length: 200 }, (_, at) => `a${at}="x"`).join(" ");
    const voices = Array.from({ length: 17 }, (_, at) => `<voice name="v${at}">Hi.</voice>`).join("");
    const entity = "<!DOCTYPE speak [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><speak>&x;</speak>";
    const voice = (name: string) => `<speak><voice name="${name}">Hi.</voice></speak>`;
    const wrong: readonly (readonly [text: string, message: RegExp])[] = [
      ["<speak>\nHello <p>there", /line 2, column 7: <p> is never closed/],
      [`<speak>${"<s>".repeat(400)}Hi.${"</s>".repeat(400)}</speak>`, /elements may lie at most 64 deep/],
      [`<?xml version='1.0'?>${entity}`, /document type/],
      [`<speak ${attributes}>Hi.</speak>`, /at most 32 attributes/],
      ['<speak><break time="9999h"/>Hi.</speak>', /time cannot be read: write seconds/],
      ['<speak><say-as interpret-as="nonsense">Hi.</say-as></speak>', /interpret-as of <say-as> is unknown/],
      [voice("novva"), /line 1, column 8: voice "novva" is unknown: did you mean "nova"\?/],
      [voice("Annn"), /line 1, column 8: voice "Annn" is unknown: did you mean "Ann"\?/],
      [voice("nova(1)+onyx(1)"), /line 1, column 8: voice asks for a mix/],
      [`<speak>${voices}</speak>`, /at most 16 voices: use fewer$/],
      ["Hello [pause:60s] you.", /column 7: \[pause:…\] may be at most 10 s/],
      ["Hello.\n[voice:novva] Hi.", /line 2, column 1: voice "novva" is unknown: did you mean "nova"\?/],
      ["Hello. [voice:Annn] Hi.", /line 1, column 8: voice "Annn" is unknown: did you mean "Ann"\?/],
      [
        voices.replaceAll(/<voice name="(v\d+)">(Hi.)<.voice>/g, "[voice:$1]$2"),
        /at most 16 voices: use fewer$/,
      ],
      ["<speak>[Ann](/9ˈ/)</speak>", /is not a phoneme/],
    ];
    for (const [path, field, body] of ROUTES)
      for (const [text, message] of wrong) {
        const refused = await refusal(path, body(text));
        assert.match(refused, message, path);
        assert.ok(refused.startsWith(`${field}: `), refused);
      }
  });

  it("names voices of the model and recordings", async () => {
    const named = async (name: string) => {
      await tts(`<speak>Hello <voice name="${name}">there</voice>.</speak>`);
      return Object.entries(scripts.at(-1)!.textVoices ?? {});
    };
    assert.deepEqual(await named("nova"), [["nova", { voice: [{ weight: 1, id: "0" }], speaker: "0" }]]);
    const sample = { weight: 1, sample: { clip: ANN, text: null } };
    assert.deepEqual(await named("Ann"), [["Ann", { voice: [sample] }]]);
    assert.deepEqual((await named("nobody onyx"))[0]![0], "onyx");
    assert.equal((await tts("Hello.")).meta.cautions, undefined);
    assert.equal(scripts.at(-1)!.textVoices, undefined);
  });

  it("names voices from a mark on as SSML does", async () => {
    const said = async (text: string) => {
      const { usage } = await tts(text);
      return [usage.input_chars, scripts.at(-1)!.textVoices];
    };
    const [chars, voices] = await said("Hello. [voice:Ann] You. [voice:nova]Me.");
    assert.equal(chars, "Hello.  You. Me.".length);
    assert.deepEqual(
      [chars, voices],
      await said('<speak>Hello.  <voice name="Ann">You. </voice><voice name="nova">Me.</voice></speak>'),
    );
    assert.equal((await said("[voice: of the people] Hello."))[1], undefined);
  });

  it("has nothing speakable when it only has pauses", async () => {
    for (const text of ["[pause:1s]", "[voice:nova]", "<speak><break/></speak>"])
      assert.match(await ttsRefusal(text), /^text has nothing speakable/);
    const pcm = await server.post("/v1/audio/speech", { input: "[pause:1.5s]", response_format: "pcm" });
    assert.equal((await pcm.arrayBuffer()).byteLength, 1.5 * 48_000);
  });

  it("pauses no longer than max_new_tokens allows", async () => {
    const text = `Hello ${"[pause:10s]".repeat(60)} world.`;
    const { usage, meta } = await tts(text, { params: { max_new_tokens: 50 } });
    assert.equal(usage.output_audio_seconds, 4);
    assert.equal(meta.stop, "length");
  });

  it("enters the history as its words", async () => {
    const conversation = [
      { text: '<speak>It is <break/> <sub alias="Ann">A.</sub></speak>' },
      { speaker: "1", text: "Well [pause:1s] yes.[voice:nova]" },
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
      const body = { text: "Hello.", params: { temperature: 0 }, ...fields };
      await (await server.post("/v1/tts", body)).arrayBuffer();
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
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`w${index}`, "x"]));
    for (const [lexicon, message] of [
      [["a"], "^lexicon must be an object"],
      [{ a: 1 }, '^lexicon\\["a"\\] must be a string'],
      [{ "a/b~": 1 }, '^lexicon\\["a/b~"\\] must be a string'],
      [{ a: "" }, '^lexicon\\["a"\\] must have at least 1 character'],
      [{ a: "x".repeat(201) }, '^lexicon\\["a"\\] must have at most 200 characters'],
      [{ ["x".repeat(65)]: "y" }, "^the name of a member of lexicon .* at most 64"],
      [{ ["x".repeat(5_000)]: "y" }, "^the name of a member of lexicon .* at most 64"],
      [many, "^lexicon must have at most 100 members"],
    ] as const)
      await refused({ lexicon }, 422, message);
  });

  it("is refused with 400 and the entry's name for a wrong meaning", async () => {
    const unknown = 'character 4 of what is said \\("9"\\) is not a phoneme: write phonemes as ';
    for (const [lexicon, message] of [
      [{ a: "/fˈ9/" }, `^lexicon\\["a"\\]: ${unknown}`],
      [{ a: "/fˈu" }, "begins with a slash and does not end with one"],
      [{ "?": "x" }, '^lexicon\\["\\?"\\]: the word has no letter or digit'],
      [{ a: "…" }, "what is said has no letter or digit"],
    ] as const)
      await refused({ lexicon }, 400, message);
  });
});

it("publishes a pattern that matches exactly the accepted phonemes", async () => {
  const { components } = await (await server.get("/openapi.json")).json();
  const { pattern } = components.schemas.TtsRequest.properties.lexicon.additionalProperties;
  const published = new RegExp(pattern, "u");
  for (const sign of ACCEPTED) assert.ok(published.test(`/u${sign}u/`), sign);
  for (const other of ["/c/", "/t\u0361s/", "/\u0329n/", "/ˈ/", "//", "/u"])
    assert.ok(!published.test(other), other);
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
