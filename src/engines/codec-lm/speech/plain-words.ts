import { inlinePhonemes } from "../../../text/inline-phonemes.ts";

/** A text as a model reads it: on one line, and of `[word](/phonemes/)` the word alone. */
export function plainWords(text: string): string {
  let plain = "";
  let at = 0;
  for (const { from, to, word } of inlinePhonemes(text)) {
    plain += text.slice(at, from) + word;
    at = to;
  }
  return (plain + text.slice(at)).replaceAll(/\s+/gu, " ").trim();
}
