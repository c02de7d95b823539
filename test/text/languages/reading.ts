import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Language, readSentence } from "../../../src/text/languages/language.ts";
import { AMERICAN } from "../../../src/text/phonemes/accent.ts";
import { packedWords } from "../../../src/text/phonemes/dictionary.ts";
import { createLexicon } from "../../../src/text/phonemes/lexicon.ts";
import { RewrittenText } from "../../../src/text/rewritten-text.ts";
import { TOP } from "../../architecture/top.ts";
import { tables } from "../voice.ts";

const lexicon = createLexicon(
  { gold: packedWords(tables.gold), silver: packedWords(tables.silver) },
  tables.names,
  AMERICAN.endings,
);

/** Makes a reader of sentences in which U+E000 has given phonemes. */
export function createReader(language: Language, given: string) {
  const sources = {
    english: (text: string) =>
      lexicon.read(
        { text, tag: "NN", currency: null, head: true, reading: null },
        { sound: null, to: false },
      ),
    given: (character: string) => (character === "\ue000" ? given : null),
  };
  return (text: string) => readSentence(language, RewrittenText.of(text), sources);
}

/** Reads the columns of a golden table; lines that begin with `#` are comments. */
export function goldenRows(name: string): string[][] {
  return readFileSync(join(TOP, "test/golden/languages", name), "utf8")
    .trimEnd()
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .map((line) => line.split("\t"));
}

/** Returns what was written for each word of the phonemes. */
export function placesOf(text: string, { phonemes, sources }: ReturnType<typeof readSentence>): string[] {
  return Array.from(phonemes.matchAll(/[^\s.,]+/g), ({ 0: word, index }) => {
    const before = phonemes.slice(0, index).replaceAll(" ", "").length;
    const { from, to } = sources.of(before, before + word.length);
    return text.slice(from, to);
  });
}

/** Returns whether the sentence goes on at the bar, which stands after a full stop. */
export function goesOn({ sentences }: Language, text: string): boolean {
  const mark = text.indexOf("|") - 1;
  return sentences.continues(text.replace("|", ""), mark, mark + 2);
}
