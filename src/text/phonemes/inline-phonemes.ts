import { type Sentence, splitSentences } from "../sentences/sentences.ts";
import { describeFault, isPhonetic, readGivenPhonemes } from "./given-phonemes.ts";

/** `[word](/phonemes/)` in a text. Places are of UTF-16 code units. */
export interface InlinePhonemes {
  readonly from: number;
  readonly to: number;
  readonly word: string;
  /** As they are written, and where that begins. */
  readonly written: string;
  readonly writtenFrom: number;
}

const MIDDLE = "](/";
const END = "/)";
const MAX_CHARS = 1000;

/** Where a text gives phonemes for words; what is an address (`[word](/about/)`) is left out. Linear in the text. */
export function inlinePhonemes(text: string): InlinePhonemes[] {
  const found: InlinePhonemes[] = [];
  let from = 0;
  for (let middle = text.indexOf(MIDDLE); middle >= 0; middle = text.indexOf(MIDDLE, middle + 1)) {
    const open = text.slice(Math.max(from, middle - MAX_CHARS), middle).lastIndexOf("[");
    const start = Math.max(from, middle - MAX_CHARS) + open;
    const writtenFrom = middle + MIDDLE.length;
    const end = text.slice(writtenFrom, writtenFrom + MAX_CHARS).indexOf(END);
    if (open < 0 || end < 0) continue;
    const word = text.slice(start + 1, middle);
    const written = text.slice(writtenFrom, writtenFrom + end);
    if (word.trim() === "" || word.includes("]") || /[/()]/.test(written) || !isPhonetic(written)) continue;
    from = writtenFrom + end + END.length;
    found.push({ from: start, to: from, word, written, writtenFrom });
  }
  return found;
}

/** What is wrong with the first inline phonemes that cannot be read, with its place in the text; null where all can. */
export function inlineFault(text: string): string | null {
  if (!text.includes(MIDDLE)) return null;
  for (const { written, writtenFrom } of inlinePhonemes(text)) {
    const read = readGivenPhonemes(written);
    if ("why" in read) return describeFault(read, Array.from(text.slice(0, writtenFrom)).length);
  }
  return null;
}

/** The sentences of a text, none of which ends inside of `[a word. With marks](/phonemes/)`. */
export function spokenSentences(text: string): readonly Sentence[] {
  const sentences = splitSentences(text);
  const whole = text.includes("](/") ? inlinePhonemes(text) : [];
  if (whole.length === 0) return sentences;
  const joined: Sentence[] = [];
  let start = 0;
  let end = 0;
  for (const sentence of sentences) {
    const isCut = whole.some(({ from, to }) => from < end && end < to);
    if (!isCut) start = sentence.from;
    end = sentence.from + sentence.text.length;
    if (isCut) joined.pop();
    joined.push({ ...sentence, text: text.slice(start, end), from: start });
  }
  return joined;
}

/** A text with the word alone in place of each `[word](/phonemes/)`. */
export function withoutPhonemes(text: string): string {
  let plain = "";
  let at = 0;
  for (const { from, to, word } of inlinePhonemes(text)) {
    plain += text.slice(at, from) + word;
    at = to;
  }
  return plain + text.slice(at);
}
