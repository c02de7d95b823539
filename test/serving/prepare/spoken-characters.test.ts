import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TtsRequest } from "../../../src/contract/requests.ts";
import { findModel, PUBLIC_MODELS } from "../../../src/models/public-models.ts";
import { parseBody } from "../../../src/serving/prepare/parse-body.ts";
import { resolveConverse, resolveTts } from "../../../src/serving/prepare/resolve-request.ts";
import { maxSpeechS } from "../../../src/serving/prepare/speech-length.ts";
import { StreamedText } from "../../../src/serving/reply/streamed-text.ts";

const resolve = (id: string | null) => findModel(PUBLIC_MODELS, id);
const tts = (request: TtsRequest) => resolveTts(request, resolve);
const chars = (text: string, lexicon: Record<string, string> = {}) => tts({ text, lexicon }).input.chars;

const SOUNDS = "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ";
const WORDS = "the quick brown fox jumps over the lazy dog";

describe("billed characters", () => {
  it("are those of phonemes longer than their word", () => {
    assert.equal(chars(`[a](/${SOUNDS}/)`), SOUNDS.length);
    assert.equal(chars(`I saw [a](/${SOUNDS}/), [Ann](/ˈæn/).`), `I saw ${SOUNDS}, Ann.`.length);
    assert.equal(chars("[Worcestershire](/wˈʊstəɹ/)"), "Worcestershire".length);
  });

  it("are those of SSML phonemes and aliases", () => {
    assert.equal(chars(`<speak><phoneme ph="${SOUNDS}">a</phoneme>.</speak>`), SOUNDS.length + 1);
    assert.equal(chars(`<speak><phoneme ph="${SOUNDS}"/>.</speak>`), SOUNDS.length + 1);
    assert.equal(chars(`<speak><sub alias="${WORDS}">a</sub></speak>`), WORDS.length);
    assert.equal(chars(`<speak><sub alias="[a](/${SOUNDS}/)">a</sub></speak>`), SOUNDS.length);
  });

  it("do not shrink for character references within phonemes", () => {
    const text = `<speak>Hello [a](/ˈ${"&#x0000259;".repeat(80)}o/) there.</speak>`;
    assert.equal(chars(text), "Hello  there.".length + 82);
  });

  it("are those of a lexicon entry at each use", () => {
    assert.equal(chars("x, X. x!", { x: WORDS }), 3 * WORDS.length + ", . !".length);
    assert.equal(chars("a x's b", { x: `/${SOUNDS}/` }), `a ${SOUNDS}'s b`.length);
    assert.equal(chars("cafe\u0301", { café: WORDS }), WORDS.length + 1);
    assert.equal(chars("<speak><sub alias='x x'>y</sub></speak>", { x: WORDS }), 2 * WORDS.length + 1);
  });

  it("are those of the text if a lexicon entry is shorter or unused", () => {
    assert.equal(chars("Worcestershire sauce", { Worcestershire: "wooster" }), 20);
    assert.equal(chars("The SQL server.", { postgres: WORDS, QL: WORDS }), 15);
  });

  it("are equal for a conversation, an OpenAI input and a streamed text", () => {
    const text = `[a](/${SOUNDS}/) x`;
    const lexicon = { x: WORDS };
    const expected = SOUNDS.length + 1 + WORDS.length;
    assert.equal(resolveConverse({ conversation: [{ text }], lexicon }, resolve).input.chars, expected);
    const body = Buffer.from(JSON.stringify({ input: text, lexicon }));
    assert.equal(parseBody("speech", body, resolve).input.chars, expected);
    const pieces = new StreamedText(1_000);
    for (const piece of text) pieces.push(piece);
    pieces.end();
    assert.equal(pieces.chars, SOUNDS.length + 2);
  });

  it("are limited like the text itself", () => {
    const text = "x ".repeat(200).trim();
    const tooMany =
      /^text has 8799 characters with what its lexicon and phonemes say .* at most 8000 .* shorter/;
    assert.throws(() => tts({ text, lexicon: { x: WORDS } }), { status: 400, message: tooMany });
    assert.equal(tts({ text, lexicon: { x: WORDS.slice(0, 38) } }).input.chars, 7_799);
    const asked = { input: text, lexicon: { x: WORDS }, response_format: "flac" };
    const body = Buffer.from(JSON.stringify(asked));
    assert.throws(
      () => parseBody("speech", body, resolve),
      /^ServiceError: input has 8799 .* a whole flac holds 4096: set stream_format/,
    );
  });

  it("may be 8000 without the marks, in the open turn and in earlier ones, and not more", () => {
    const marked = (words: number, to: number) => {
      const open = "<speak>";
      return `${open}${"<!---->".repeat(Math.floor((to - words) / 7) - 3)}${"x ".repeat(words / 2)}</speak>`;
    };
    const whole = (text: string) => parseBody("tts", Buffer.from(JSON.stringify({ text })), resolve);
    const both = (text: string) => {
      const conversation = [{ text }, { text: "Yes." }];
      return parseBody("converse", Buffer.from(JSON.stringify({ conversation })), resolve);
    };
    const speech = (input: string) => parseBody("speech", Buffer.from(JSON.stringify({ input })), resolve);
    assert.equal(whole(marked(8_000, 31_000)).input.chars, 8_000);
    both(marked(8_000, 31_000));
    assert.equal(speech(marked(4_096, 16_000)).input.chars, 4_096);
    for (const text of ["x ".repeat(4_001), "x".repeat(8_001), marked(8_002, 31_000)]) {
      assert.throws(() => whole(text), {
        status: 422,
        param: "text",
        message: "text must have at most 8000 characters",
      });
      assert.throws(() => both(text), {
        status: 422,
        message: /^conversation\[0\]\.text must have at most 8000 char/,
      });
    }
    assert.equal(speech(marked(100_000, 390_000)).input.chars, 100_000);
    assert.throws(
      () => speech(marked(100_002, 390_000)),
      /^ServiceError: input must have at most 100000 char/,
    );
    assert.throws(() => whole("x".repeat(40_000)), {
      status: 422,
      message: "text must have at most 8000 characters",
    });
    assert.throws(() => whole(`<speak>${"<!---->".repeat(2_000)}x`), {
      status: 400,
      message: /^text: line 1.*speak/,
    });
  });

  it("determine the maximum speech length", () => {
    const plain = tts({ text: `${WORDS} `.repeat(9) });
    const short = tts({ text: "x ".repeat(9), lexicon: { x: WORDS } });
    assert.equal(maxSpeechS(short), maxSpeechS(plain));
  });
});

describe("pauses in a text", () => {
  it("are rejected over ten minutes in total", () => {
    assert.doesNotThrow(() => tts({ text: "Hello. [pause:10s] ".repeat(60) }));
    assert.throws(
      () => tts({ text: "Hello. [pause:10s] ".repeat(370) }),
      /text: its pauses last 3700 s together, and at most 600 s are allowed: shorten them or send the text in parts/,
    );
  });
});

describe("cautions", () => {
  const cautions = (text: string) => tts({ text }).cautions ?? [];

  it("name only words in a script that is not spoken", () => {
    assert.match(cautions("I like 東京 a lot.").join(), /does not speak words in the script of 東京/);
    for (const text of ["α and β", "naïve Łódź", "Привет means hello.", "Hello 😀 [a](/ˈæn/) ½ ª"])
      assert.deepEqual(cautions(text), [], text);
  });

  it("name an SSML element in plain text", () => {
    assert.match(cautions('Hello <break time="1s"/> there.').join(), /^<break> is ignored: put <speak>/);
    assert.deepEqual(cautions("a <b> c <voiced> 3 < 4"), []);
  });
});
