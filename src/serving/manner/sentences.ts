import { LABELS, NOUNS } from "./fillers.ts";
import { negationAt } from "./negations.ts";
import { isKnown, isKnownWord } from "./phrases.ts";
import { DIMENSIONS } from "./traits.ts";

/** A text as sentences: words in small letters, numbers, commas, and `:` behind what begins a list of what is not wanted. */
export function sentencesIn(text: string): string[][] {
  const sentences: string[][] = [[]];
  /** What each line of a list begins with: of "Avoid:" and lines below it each is unwanted. */
  let heading: readonly string[] = [];
  let before = "";
  const plain = text
    .replaceAll(/[’‘ʼ´`]/g, "'")
    .replaceAll(/[“”„]/g, '"')
    // All of it in quotation marks is what is asked; some of it is what is spoken of.
    .replace(/^\s*"([^"]*)"\s*$/, "$1")
    .replaceAll(/"[^"]*"/g, " quotation ")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase();
  for (const [part] of plain.matchAll(PARTS)) {
    const sentence = sentences.at(-1)!;
    if (part === ":") {
      const label = sentence.slice(heading.length);
      if (isUnwanted(label)) sentence.push(":");
      else {
        heading = [];
        sentences[sentences.length - 1] = label;
        // What stands before a colon is what it is about, "Pace: slow"; of a heading such as "Accent/Affect" it says no more.
        if (!label.some((word) => DIMENSIONS.has(word)) && label.some(isOfTheVoice)) sentences.push([]);
      }
    } else if (part === "." && isNumbered(sentence.slice(heading.length))) sentence.pop();
    else if (/^[.;!?\n]$/.test(part)) {
      if (part === "\n" && before === ":" && sentence.at(-1) === ":") heading = ["avoid", ":"];
      if (part === "\n" && before === "\n") heading = [];
      sentences.push(part === "\n" ? [...heading] : []);
    } else sentence.push(...(part === "," ? [part] : wordsOf(part)));
    before = part;
  }
  return sentences;
}

const PARTS =
  /\d+(?:[.,]\d+)?(?:\s?(?:x\b|×|%|percent\b|times\b))?|\p{L}+(?:'\p{L}+)*(?:-\p{L}+(?:'\p{L}+)*)*|[,.;:!?\n]/gu;

/** "1. Shout": a line of a list. */
function isNumbered(words: readonly string[]): boolean {
  return words.length === 1 && /^\d+$/.test(words[0]!);
}

function isOfTheVoice(word: string): boolean {
  return NOUNS.has(word) || LABELS.has(word);
}

function isUnwanted(words: readonly string[]): boolean {
  return words.some((_, at) => negationAt(words, at) > 0);
}

/** "High-pitched" is two words that are known, and "high-quality" one that is not. */
function wordsOf(written: string): string[] {
  if (/^\d/.test(written))
    return [written.replaceAll(/\s/g, "").replace("×", "x").replace("percent", "%").replace(",", ".")];
  const word = shortened(written);
  if (!word.includes("-")) return [word];
  const parts = word.split("-").map(shortened);
  return isKnown(parts) ? parts : [word];
}

/** "Sloooow" is slow, and "loooud" loud. */
function shortened(word: string): string {
  if (!/(\p{L})\1\1/u.test(word)) return word;
  const [once, twice] = ["$1", "$1$1"].map((letters) => word.replaceAll(/(\p{L})\1{2,}/gu, letters));
  return isKnownWord(once!) ? once! : twice!;
}
