import assert from "node:assert/strict";
import { ServiceError } from "../../src/contract/errors.ts";
import { countChars } from "../../src/contract/limits.ts";
import { spokenText } from "../../src/core/marked-text.ts";
import { NothingToSpeakError, type SpeechModel } from "../../src/core/speech-model.ts";
import { findModel, PUBLIC_MODELS } from "../../src/models/public-models.ts";
import { resolveSpeech } from "../../src/serving/prepare/resolve-speech.ts";
import { speakLongInput } from "../../src/serving/reply/speak-long-input.ts";
import type { Fuzzer } from "./fuzzer.ts";

/** Fuzzes long texts: refused before speech begins, or every passage can be read and has its words in the whole text. */
export const longInputFuzz: Fuzzer = {
  run: async (random) => check(make(random)),
  make,
  check,
  async close() {},
};

const PLAIN = [
  "A sentence of words. ",
  "[pause:0.1s]",
  "[voice:nova]",
  "[a](/ˈA/) ",
  "\n\n",
  "Chapter 3\n\n",
  "🙂 𝒳. ",
  "!? ",
  "[ ",
];
const TAGGED = [
  '<break time="100ms"/>',
  "<s>One.</s>",
  '<sub alias="b">a</sub> ',
  '<mark name="m"/>',
  "<!-- c -->",
  "&amp;",
];
const OPEN = ['<prosody rate="80%">', '<voice name="1">', "<p>", "<emphasis>"];

/** Writes 12,000 units of mostly valid text, in elements that stay open across passages. */
function make(random: () => number): Uint8Array {
  const isSsml = random() < 0.5;
  const [pieces, most] = [
    isSsml ? [...PLAIN.slice(0, 1), ...PLAIN.slice(4, 8), ...TAGGED] : PLAIN,
    300 * random(),
  ];
  const open: string[] = [];
  let text = isSsml ? "<speak>" : "";
  while (text.length < 12_000) {
    const dice = random();
    if (isSsml && dice < 0.02) {
      open.push(OPEN[Math.floor(random() * OPEN.length)]!);
      text += open.at(-1);
    } else if (dice < 0.04 && open.length > 0) text += `</${/\w+/.exec(open.pop()!)![0]}>`;
    else text += pieces[Math.floor(random() ** 2 * pieces.length)]!.repeat(1 + (dice > 0.97 ? most : 0));
  }
  for (const tag of open.reverse()) text += `</${/\w+/.exec(tag)![0]}>`;
  return Buffer.from(isSsml ? `${text}</speak>` : text);
}

/** Says the first word of a passage in one frame. */
const FIRST_WORDS: SpeechModel = {
  async *speak({ text }) {
    for await (const piece of text) {
      const [word] = /[\p{L}\p{N}]+/u.exec(spokenText(piece)) ?? [];
      if (word === undefined) throw new NothingToSpeakError("no word");
      const words = [{ word, startS: 0, endS: 0.05, offset: 0, length: countChars(word) }];
      yield { samples: new Float32Array(1_920).fill(0.1), words };
    }
    return { stop: "finished", spoken: "" };
  },
  async close() {},
};

async function check(bytes: Uint8Array): Promise<void> {
  const input = new TextDecoder().decode(bytes);
  try {
    const prepared = resolveSpeech({ input, response_format: "pcm" }, (id) => findModel(PUBLIC_MODELS, id));
    const { longInput } = prepared;
    if (longInput === undefined) return;
    const base = { preset: {} };
    const speech = speakLongInput(
      FIRST_WORDS,
      { ...prepared, longInput },
      base,
      new AbortController().signal,
    );
    let before = 0;
    for await (const { words = [] } of speech)
      for (const { offset, length } of words) {
        assert.ok(offset >= before && offset + length <= countChars(input), `${offset}`);
        before = offset;
      }
  } catch (error) {
    if (error instanceof NothingToSpeakError) return;
    assert.ok(error instanceof ServiceError && [400, 422].includes(error.status), `${error}`);
    assert.doesNotMatch(`${error.stack}`, /speakLongInput/, "refused after speech began");
  }
}
