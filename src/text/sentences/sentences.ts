import { isLower, isSpaceCode, isUpper, strip, wordSet } from "../characters.ts";
import { SHORT_DAYS, SHORT_MONTHS } from "../normalise/kinds/calendar.ts";
import { isBook, VERSE_AHEAD } from "../normalise/kinds/verses.ts";
import { isCounted, isSaidBehind, NUMBERED } from "../normalise/number-context.ts";
import { withoutWraps } from "./lines.ts";

export interface Sentence {
  readonly text: string;
  /** Where it begins in what was split, in UTF-16 units: it is a part of that as it was written. */
  readonly from: number;
  /** Whether a new line or the end of the text follows, so that the pause after it is longer. */
  readonly endsParagraph: boolean;
  /** Whether this is only the beginning of one, or its middle: it was too long to be read at once. */
  readonly goesOn?: boolean;
}

/** Words whose full stop ends no sentence: they stand before a name. */
export const TITLES = wordSet(
  "Mr Mrs Ms Dr Prof St Mt Ft Gen Gov Sen Rep Capt Lt Col Sgt Cmdr Rev Hon Pres Supt Cpl Maj Adm Fr Msgr",
);
const BEFORE_A_NUMBER: ReadonlySet<string> = new Set([
  ...(
    "Wt wt Ht ht Lv lv Acct acct Pkg pkg Ps vol Vol pp ed approx Rs Apt apt Ste rm Rte Hwy Bldg Dist tel Tel Box " +
    "min max avg Qty qty"
  ).split(" "),
  ...NUMBERED,
  ...SHORT_MONTHS,
  ...SHORT_DAYS,
]);
const BEFORE_A_MONTH: ReadonlySet<string> = new Set(SHORT_DAYS);
const MONTH_AHEAD = new RegExp(`^(?:May|${SHORT_MONTHS.join("|")})`);
const BEFORE_ANYTHING = wordSet("vs e.g i.e cf viz w.r.t v a.k.a approx incl Brig");
/** Before a number only where a sentence begins: "Max. 4 people", but "I met Max. 4 came". */
const BEGINS_BEFORE_A_NUMBER = wordSet("Max Min Avg Approx Est Temp Qty");
const BEGINNING = /(?:^|[.!?:;•(] ?)$/;
/** Streets: a sentence may end behind them, which "St. Mary" and "Dr. King" cannot. */
const AFTER_A_NAME = /(?:\p{Lu}[\p{L}']+|\d(?:st|nd|rd|th)) $/u;
const MAY_END: ReadonlySet<string> = new Set(["St", "Dr"]);
const ON_A_STREET =
  /\b(?:on|onto|down|along|off|up|across|\d{1,5}) (?:[NSEW]\.? )?(?!Mount|Fort|Lake|Port|Old|New|Downtown|Cape|Bay|Saint)(?:\p{Lu}\p{Ll}+ ){1,2}$/u;
const NAME_AND_VERB = /^\p{Lu}\p{Ll}+ \p{Ll}{2,}/u;
const SMALL_WORD = /\p{Ll} $/u;
/** What goes by letters, and stands before no name. */
const LETTERED =
  /\b(?:vitamin|option|plan|class|grade|hepatitis|type|section|exhibit|choice|terminal|appendix) $/iu;
const HALF_DAY = /^\d{0,2}[ap]\.m$/i;
const ZONE_OR_DAY = new RegExp(
  `^(?:[-–—&]|[ECMP][SD]?T\\b|UTC|GMT|Eastern|Central|Mountain|Pacific|${[...SHORT_DAYS, ...SHORT_MONTHS].join("|")})`,
);
/** After a company's or a family's "Inc." or "Jr.", as after initials. */
const AFTER_NAMES = wordSet("Inc Co Corp Ltd Jr Sr Bros");
/** After "U.S." or "Inc.", a sentence goes on unless one of these follows. */
const USUAL_BEGINNINGS = wordSet(
  "The A An I He She It We You They This That These Those There Then Here His Her Its Our Your Their My And But " +
    "So Or If When While Who What Where Why How Is Are Was Were Do Does Did Can Could Will Would Should In On At " +
    "Keep Turn Take Go Continue Merge Stay Head Make Follow Walk Drive Cross Use Exit Arrive Today Yesterday Tomorrow " +
    "After Before Because Since Yes No Not Now Please Let For From As By With To",
);
/** "10 lb. 4 oz.": a unit and the smaller one. */
const UNIT_WITH_STOP = /^(?:lbs?|ft|hrs?|yds?|gal|mins?|oz|secs?|qts?|tbsps?|tsps?|mi|in)$/;
/** Before the number of a part: "sec. 5", but "Wait a sec. 5 more minutes." */
const BEFORE_A_REFERENCE = /^(?:[Nn]os?|[Aa]rt|[Ss]ec|[Ff]igs?|[Cc]h(?:ap)?)$/;
const CODE_AHEAD = /^[A-Z]{1,4}-?\d/;
/** "Pennsylvania Ave. NW": the quarter of a town. */
const ROAD = /^(?:St|Ave|Blvd|Rd|Dr|Ln|Pl|Ct|Pkwy|Hwy|Ter|Cir)$/;
const QUARTER = /^[NS][EW](?![\p{L}\p{N}'])/u;
/** "12 mi. SW of town" */
const COMPASS_OF = /^[NS]?[NESW][EW]? of /;
const SMALLER_UNIT = /^(?:\(\d|\d{1,2}(?:\.\d)? ?(?:oz|in|mins?|secs?|ft|qts?)\b)/;
const INITIALS = /^(?:\p{Lu}\.)+\p{Lu}$/u;
const MARKS = ".!?…";
/** Closing emphasis of Markdown too. */
const CLOSING = '"”’)]*_~`»';
const OPENING = "(\"“'‘";
/** A longer word is no abbreviation; the search stops there, so that odd texts cost no more than others. */
const MAX_ABBREVIATION_CHARS = 40;

/**
 * Cuts a text into sentences, in their order and as they are written; none are empty, and what a text of spaces gives is
 * none. A new line ends one, unless it only wraps a paragraph; where `lines` are `hard`, it always does.
 */
export function splitSentences(text: string, lines: "wrapped" | "hard" = "wrapped"): Sentence[] {
  const sentences: Sentence[] = [];
  let lineStart = 0;
  for (const line of (lines === "wrapped" ? withoutWraps(text) : text).split("\n")) {
    const paragraph = strip(line);
    const offset = lineStart + Math.max(0, line.indexOf(paragraph));
    lineStart += line.length + 1;
    let start = 0;
    for (let mark = 0; mark < paragraph.length; mark++) {
      if (!MARKS.includes(paragraph.charAt(mark))) continue;
      let closed = mark + 1;
      while (closed < paragraph.length && CLOSING.includes(paragraph.charAt(closed))) closed++;
      let next = closed;
      while (next < paragraph.length && isSpaceCode(paragraph.charCodeAt(next))) next++;
      if (next === closed || next === paragraph.length || continues(paragraph, mark, next)) continue;
      push(offset + start, offset + closed, false);
      start = next;
      mark = next - 1;
    }
    push(offset + start, offset + paragraph.length, true);
  }
  return sentences;

  function push(from: number, to: number, endsParagraph: boolean): void {
    const piece = text.slice(from, to);
    if (strip(piece) !== "") sentences.push({ text: piece, from, endsParagraph });
  }
}

function continues(paragraph: string, mark: number, next: number): boolean {
  if (isLower(String.fromCodePoint(paragraph.codePointAt(next) ?? 0))) return true;
  if (paragraph[mark] !== ".") return false;
  const word = wordBefore(paragraph, mark);
  const start = mark - word.length;
  if (MAY_END.has(word) && AFTER_A_NAME.test(paragraph.slice(Math.max(0, start - 30), start)))
    return !isUsualBeginning(paragraph, next) && !endsInStreet(paragraph, start, next);
  const isNamed = /^[A-FK]$/.test(word) && LETTERED.test(paragraph.slice(Math.max(0, start - 14), start));
  if (isLetter(paragraph, start, word) && (isNamed || isUsualBeginning(paragraph, next))) return false;
  const isInitial = isUpper(word) && Array.from(word).length === 1;
  if (TITLES.has(word) || isInitial || BEFORE_ANYTHING.has(word)) return true;
  if (BEFORE_A_MONTH.has(word) && MONTH_AHEAD.test(paragraph.slice(next, next + 3))) return true;
  if (BEGINS_BEFORE_A_NUMBER.has(word) && BEGINNING.test(paragraph.slice(Math.max(0, start - 3), start)))
    return /^~?\p{Nd}/u.test(paragraph.slice(next, next + 3));
  if (COMPASS_OF.test(paragraph.slice(next, next + 8))) return true;
  if (ROAD.test(word) && QUARTER.test(paragraph.slice(next, next + 4))) return true;
  if (
    VERSE_AHEAD.test(paragraph.slice(next, next + 14)) &&
    isBook(word, paragraph.slice(Math.max(0, start - 12), start))
  )
    return true;
  if (UNIT_WITH_STOP.test(word)) {
    const measured = /\d ?$/.test(paragraph.slice(Math.max(0, start - 3), start));
    if (measured) return SMALLER_UNIT.test(paragraph.slice(next, next + 16));
  }
  if (BEFORE_A_REFERENCE.test(word) && isCounted(paragraph.slice(next, next + 24))) return false;
  if (BEFORE_A_NUMBER.has(word)) {
    const said = word.startsWith("no") && isSaidBehind(paragraph.slice(Math.max(0, start - 18), start));
    const rest = paragraph.slice(next, next + 8);
    return !said && (/^[#(]?\p{Nd}/u.test(rest) || (/^[Nn]os?$/.test(word) && CODE_AHEAD.test(rest)));
  }
  if (HALF_DAY.test(word)) return ZONE_OR_DAY.test(paragraph.slice(next, next + 12));
  return (INITIALS.test(word) || AFTER_NAMES.has(word)) && !isUsualBeginning(paragraph, next);
}

/** "on Oak St. Bob loves it", but "on Lake St. Clair". */
function endsInStreet(paragraph: string, start: number, next: number): boolean {
  return (
    ON_A_STREET.test(paragraph.slice(Math.max(0, start - 40), start)) &&
    NAME_AND_VERB.test(paragraph.slice(next, next + 40))
  );
}

/** "Take exit B.", "So do I.": a capital by itself behind a small word is no initial of a name. */
function isLetter(paragraph: string, start: number, word: string): boolean {
  return /^[A-Z]$/.test(word) && SMALL_WORD.test(paragraph.slice(Math.max(0, start - 20), start));
}

function isUsualBeginning(paragraph: string, next: number): boolean {
  return USUAL_BEGINNINGS.has(/^[A-Za-z]*/.exec(paragraph.slice(next, next + 20))?.[0] ?? "");
}

/** The word that a mark ends, without what opens before it; empty where it is too long to matter. */
function wordBefore(paragraph: string, mark: number): string {
  let start = paragraph.lastIndexOf(" ", mark - 1) + 1;
  if (mark - start > MAX_ABBREVIATION_CHARS) return "";
  while (start < mark && OPENING.includes(paragraph.charAt(start))) start++;
  return paragraph.slice(start, mark);
}
