import type { Readings } from "./differences.ts";
import { inlinePhonemes } from "./inline-phonemes.ts";
import { type Sentence, splitSentences } from "./sentences.ts";

/** The sentences of a text, none of which ends inside of `[a word. With marks](/phonemes/)`. */
export function spokenSentences(text: string, readings: Readings): readonly Sentence[] {
  const sentences = splitSentences(text, readings);
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
