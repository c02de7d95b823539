import { isLower, isSpaceCode, isUpper, strip } from "./characters.ts";
import { differencesOf, type Readings } from "./differences.ts";

export interface Sentence {
  readonly text: string;
  /** Whether a new line or the end of the text follows, so that the pause after it is longer. */
  readonly endsParagraph: boolean;
  /** Whether this is only the beginning of one, or its middle: it was too long to be read at once. */
  readonly goesOn?: boolean;
}

/** Words whose full stop ends no sentence: they stand before a name. */
export const TITLES: ReadonlySet<string> = new Set(
  "Mr Mrs Ms Dr Prof St Mt Ft Gen Gov Sen Rep Capt Lt Col Sgt Cmdr Rev Hon Pres Supt Cpl Maj Adm Fr Msgr".split(
    " ",
  ),
);
const BEFORE_A_NUMBER: ReadonlySet<string> = new Set(
  (
    "no nos No Nos vol Vol vols p pp ch Ch fig Fig figs sec Sec art Art ed est approx ca Rs Apt Ste Rm Rte Hwy " +
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"
  ).split(" "),
);
const BEFORE_ANYTHING: ReadonlySet<string> = new Set("vs e.g i.e cf viz w.r.t".split(" "));
/** After "U.S." or "Inc.", a sentence goes on unless one of these follows. */
const USUAL_BEGINNINGS: ReadonlySet<string> = new Set(
  (
    "The A An I He She It We You They This That These Those There Then Here His Her Its Our Your Their My And But " +
    "So Or If When While Who What Where Why How Is Are Was Were Do Does Did Can Could Will Would Should In On At " +
    "After Before Because Since Yes No Not Now Please Let For From As By With To"
  ).split(" "),
);
const INITIALS = /^(?:\p{Lu}\.)+\p{Lu}$/u;
const MARKS = ".!?…";
const CLOSING = '"”’)]';
const OPENING = "(\"“'‘";
/** A longer word is no abbreviation; the search stops there, so that odd texts cost no more than others. */
const LONGEST_ABBREVIATION = 40;

/** Cuts a text into sentences, in their order; none are empty, and what a text of spaces gives is none. */
export function splitSentences(text: string, readings: Readings = "standard"): Sentence[] {
  const differences = differencesOf(readings);
  const keepsClosing = differences.has("closing-marks-kept");
  const goesOn = differences.has("abbreviation-inside-sentence") ? continuesImproved : continues;
  const sentences: Sentence[] = [];
  for (const line of text.split("\n")) {
    const paragraph = strip(line);
    let start = 0;
    for (let mark = 0; mark < paragraph.length; mark++) {
      if (!MARKS.includes(paragraph.charAt(mark))) continue;
      let closed = mark + 1;
      while (closed < paragraph.length && CLOSING.includes(paragraph.charAt(closed))) closed++;
      let next = closed;
      while (next < paragraph.length && isSpaceCode(paragraph.charCodeAt(next))) next++;
      if (next === closed || next === paragraph.length || goesOn(paragraph, mark, next)) continue;
      push(paragraph.slice(start, keepsClosing ? closed : mark + 1), false);
      start = next;
      mark = next - 1;
    }
    push(paragraph.slice(start), true);
  }
  return sentences;

  function push(piece: string, endsParagraph: boolean): void {
    if (strip(piece) !== "") sentences.push({ text: piece, endsParagraph });
  }
}

function continues(paragraph: string, mark: number, next: number): boolean {
  if (isLower(String.fromCodePoint(paragraph.codePointAt(next) ?? 0))) return true;
  if (paragraph[mark] !== ".") return false;
  const word = wordBefore(paragraph, mark);
  return TITLES.has(word) || (isUpper(word) && Array.from(word).length === 1);
}

function continuesImproved(paragraph: string, mark: number, next: number): boolean {
  if (continues(paragraph, mark, next)) return true;
  if (paragraph[mark] !== ".") return false;
  const word = wordBefore(paragraph, mark);
  if (BEFORE_ANYTHING.has(word)) return true;
  if (BEFORE_A_NUMBER.has(word)) return /^\p{Nd}/u.test(paragraph.slice(next, next + 2));
  return (
    INITIALS.test(word) &&
    !USUAL_BEGINNINGS.has(/^[A-Za-z]*/.exec(paragraph.slice(next, next + 20))?.[0] ?? "")
  );
}

/** The word that a mark ends, without what opens before it; empty where it is too long to matter. */
function wordBefore(paragraph: string, mark: number): string {
  let start = paragraph.lastIndexOf(" ", mark - 1) + 1;
  if (mark - start > LONGEST_ABBREVIATION) return "";
  while (start < mark && OPENING.includes(paragraph.charAt(start))) start++;
  return paragraph.slice(start, mark);
}
