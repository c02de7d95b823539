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
    const body = Buffer.from(JSON.stringify({ input: text, lexicon: { x: WORDS } }));
    assert.throws(() => parseBody("speech", body, resolve), /^ServiceError: input has 8799 .* at most 4096/);
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
