import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { createPhonemizer } from "../../src/text/phonemes/phonemizer.ts";
import { TOP } from "../architecture/top.ts";
import { openNet, tables } from "./voice.ts";

interface Case {
  readonly text: string;
  readonly phonemes: readonly string[];
}

const CASES: readonly Case[] = readFileSync(join(TOP, "test/golden/text/cases.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

/** Intended differences from the reference, with their reasons. */
const CHANGED: readonly { line: number; reason: string; phonemes: readonly string[] }[] = readFileSync(
  join(TOP, "test/golden/text/changed.jsonl"),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

const { net, close } = await openNet();
after(close);
const phonemizer = createPhonemizer(tables, net);

test("the readings differ from the reference only in the lines of changed.jsonl", async () => {
  assert.equal(CASES.length, 1507);
  const listed = new Map(CHANGED.map(({ line, phonemes }) => [line, phonemes]));
  for (const [index, { text, phonemes }] of CASES.entries()) {
    const expected = listed.get(index + 1) ?? phonemes;
    assert.deepEqual(await phonemizer.phonemes(text), expected, `line ${index + 1}: ${text}`);
  }
  assert.deepEqual(
    CHANGED.filter(({ reason }) => reason === ""),
    [],
  );
});

const READ_AS: readonly (readonly [text: string, phonemes: readonly string[]])[] = [
  ["King Charles paid €1.5bn on 3/8.", ["kˈɪŋ ʧˈɑɹlz pˈAd wˈʌn pYnt fˈIv bˈɪljən jˈʊɹOz ˌɔn mˈɑɹʧ ˈAθ."]],
  ['She said "hello" again.', ["ʃˌi sˈɛd “həlˈO” əɡˈɛn."]],
  ["See vol. 3, Tom vs. Bob.", ["sˈi vˈɑljˌum θɹˈi, tˈɑm vˈɜɹsəs bˈɑb."]],
  ["(Yes.) No.", ["(jˈɛs.)", "nˈO."]],
  ["a naïve coöperation", ["ɐ nɑˈiv kOˌɑpəɹˈAʃən"]],
  ["THE DOGS WALKED HOME", ["ðə dˈɔɡz wˈɔkt hˈOm"]],
  ["See [this page](page.html).", ["sˈi ðɪs pˈAʤ."]],
  ["Open file A-12.", ["ˈOpᵊn fˈIl ˈA twˈɛlv."]],
  ["foo//bar", ["fˈu slˈæʃ slˈæʃ bˈɑɹ"]],
  ["1234567890123456", ["wˈʌn tˈu θɹˈi fˈɔɹ fˈIv sˈɪks sˈɛvən ˈAt nˈIn zˈɪɹO wˈʌn tˈu θɹˈi fˈɔɹ fˈIv sˈɪks"]],
  ["Then I left. No one knew.", ["ðˈɛn ˌI lˈɛft.", "nˈO wˈʌn nˈu."]],
  ["I said so. Tell me.", ["ˌI sˈɛd sˌO.", "tˈɛl mˌi."]],
  ["It is 5 to 6, or so.", ["ˌɪt ɪz fˈIv tə sˈɪks, ɔɹ sˌO."]],
  ["my level is IV", ["mI lˈɛvᵊl ɪz ˌIvˈi"]],
];
for (const [text, phonemes] of READ_AS)
  test(`"${text}" has its expected phonemes`, async () =>
    assert.deepEqual(await phonemizer.phonemes(text), phonemes));

const SAME_AS: readonly (readonly [text: string, words: string])[] = [
  ["Take Part C and Part II.", "Take Part see and Part 2."],
  ["George I think so.", "George eye think so."],
  ["Henry V's army", "Henry the fifth's army"],
  ["Chapter I begins.", "Chapter 1 begins."],
  ["It was no. 5.", "It was number 5."],
  ["The 2nd ed. of it", "The 2nd edition of it"],
  ["Call 555-1234.", "Call 5 5 5, 1 2 3 4."],
  ["About 1/2.", "About one half."],
  ["$8.5 billion dollars", "8.5 billion dollars"],
  ["It made $2.5bn.", "It made 2.5 billion dollars."],
  ["It cost $5, 6 people paid.", "It cost 5 dollars, 6 people paid."],
  ["Write to joe@example.com.", "Write to joe at example dot com."],
];
for (const [text, words] of SAME_AS) {
  test(`"${text}" sounds like "${words}"`, async () => {
    const plain = (phonemes: readonly string[]): string => phonemes.join("|").replace(/[ˈˌ]/g, "");
    assert.equal(plain(await phonemizer.phonemes(text)), plain(await phonemizer.phonemes(words)));
  });
}
