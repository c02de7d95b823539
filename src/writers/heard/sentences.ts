import { sentencesOf } from "../../text/sentence-cutter.ts";

/** A text's sentences, also where what is typed in haste begins them small; blanks and apostrophes plain. */
export function sentencesIn(text: string): string[] {
  return sentencesOf(plain(text)).flatMap((sentence) => sentence.split(/(?<=\p{L}{4}[.]|[!?]) (?=\p{Ll})/u));
}

/** Characters; longer turns are read out, or pasted. */
export const MAX_TURN_CHARS = 1500;

/** A text with plain apostrophes, and single blanks between its words alone. */
export function plain(text: string): string {
  return text.replaceAll("’", "'").replaceAll(/\s+/g, " ").trim();
}
