import { isLower, isSpaceCode, isUpper, strip, wordSet } from "../characters.ts";
import type { SentenceRules } from "../languages/language.ts";
import { REFERENCE, SUPERSCRIPT } from "../normalise/markup.ts";
import { isAfterSaying, isCounted, NUMBERED } from "../normalise/number-context.ts";
import { SHORT_DAYS, SHORT_MONTHS } from "../normalise/rules/dates.ts";
import { isBook, VERSE_AHEAD } from "../normalise/rules/verses.ts";
import { inlinePhonemes } from "../phonemes/given-phonemes.ts";

export interface Sentence {
  readonly text: string;
  /** Start in the text, in UTF-16 units. */
  readonly from: number;
  /** Whether a line feed or the end of the text follows, so that the pause is longer. */
  readonly endsParagraph: boolean;
  /** Whether the sentence continues, because it was too long to be read at once. */
  readonly goesOn?: boolean;
}

/** Titles, whose full stop ends no sentence. */
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
/** "Max. 4 people", but "I met Max. 4 came". */
const BEGINS_BEFORE_A_NUMBER = wordSet("Max Min Avg Approx Est Temp Qty");
const BEGINNING = /(?:^|[.!?:;•(] ?)$/;
/** A sentence may end after a street, unlike "St. Mary" and "Dr. King". */
const AFTER_A_NAME = /(?:\p{Lu}[\p{L}']+|\d(?:st|nd|rd|th)) $/u;
const MAY_END: ReadonlySet<string> = new Set(["St", "Dr"]);
const ON_A_STREET =
  /\b(?:on|onto|down|along|off|up|across|\d{1,5}) (?:[NSEW]\.? )?(?!Mount|Fort|Lake|Port|Old|New|Downtown|Cape|Bay|Saint)(?:\p{Lu}\p{Ll}+ ){1,2}$/u;
const NAME_AND_VERB = /^\p{Lu}\p{Ll}+ \p{Ll}{2,}/u;
const SMALL_WORD = /\p{Ll} $/u;
/** Nouns that are followed by letters and not by names. */
const LETTERED =
  /\b(?:vitamin|option|plan|class|grade|hepatitis|type|section|exhibit|choice|terminal|appendix) $/iu;
const HALF_DAY = /^\d{0,2}[ap]\.m$/i;
const ZONE_OR_DAY = new RegExp(
  `^(?:[-–—&]|[ECMP][SD]?T\\b|UTC|GMT|Eastern|Central|Mountain|Pacific|${[...SHORT_DAYS, ...SHORT_MONTHS].join("|")})`,
);
const AFTER_NAMES = wordSet("Inc Co Corp Ltd Jr Sr Bros");
/** After "U.S." or "Inc.", only these begin a sentence. */
const USUAL_BEGINNINGS = wordSet(
  "The A An I He She It We You They This That These Those There Then Here His Her Its Our Your Their My And But " +
    "So Or If When While Who What Where Why How Is Are Was Were Do Does Did Can Could Will Would Should In On At " +
    "Keep Turn Take Go Continue Merge Stay Head Make Follow Walk Drive Cross Use Exit Arrive Today Yesterday Tomorrow " +
    "After Before Because Since Yes No Not Now Please Let For From As By With To",
);
const UNIT_WITH_STOP = /^(?:lbs?|ft|hrs?|yds?|gal|mins?|oz|secs?|qts?|tbsps?|tsps?|mi|in)$/;
/** "sec. 5", but "Wait a sec. 5 more minutes." */
const BEFORE_A_REFERENCE = /^(?:[Nn]os?|[Aa]rt|[Ss]ec|[Ff]igs?|[Cc]h(?:ap)?)$/;
const ROMAN_AHEAD = /^(?:[IVXL]{2,7}|[VX])(?![\p{L}\p{N}'’])/u;
const CODE_AHEAD = /^[A-Z]{1,4}-?\d/;
const ROAD = /^(?:St|Ave|Blvd|Rd|Dr|Ln|Pl|Ct|Pkwy|Hwy|Ter|Cir)$/;
const QUARTER = /^[NS][EW](?![\p{L}\p{N}'])/u;
const COMPASS_OF = /^[NS]?[NESW][EW]? of /;
const SMALLER_UNIT = /^(?:\(\d|\d{1,2}(?:\.\d)? ?(?:oz|in|mins?|secs?|ft|qts?)\b)/;
const INITIALS = /^(?:\p{Lu}\.)+\p{Lu}$/u;
/** A word that is divided at the end of a line. */
const HYPHENATED = /[-\u2010\u00ad]\r?\n(?<=\p{L}.\r?\n)(?=[ \t]{0,20}\p{Ll})/gu;
const REFERENCES = new RegExp(`(?:${REFERENCE}|${SUPERSCRIPT})["”’)\\]]*`, "uy");
const OPENING_OF_A_SENTENCE = /[\p{Lu}"“‘(]/u;
const MARKS = ".!?…";
const CLOSING = '"”’)]*_~`»';
const OPENING = "(\"“'‘";
const ENGLISH_RULES: Pick<SentenceRules, "continues"> = { continues };
/** Longer words are no abbreviations. Bounds the search. */
const MAX_ABBREVIATION_CHARS = 40;

/**
 * Splits a text into sentences, in order and unchanged; none is empty. A line feed ends a sentence unless it only
 * wraps a paragraph; with `hard` lines it always does.
 */
export function splitSentences(
  text: string,
  lines: "wrapped" | "hard" = "wrapped",
  rules: Pick<SentenceRules, "continues"> = ENGLISH_RULES,
): Sentence[] {
  const sentences: Sentence[] = [];
  let lineStart = 0;
  const joined = text.replace(HYPHENATED, (end) => end.replace("\n", " "));
  for (const line of (lines === "wrapped" ? withoutWraps(joined) : joined).split("\n")) {
    const paragraph = strip(line);
    const offset = lineStart + Math.max(0, line.indexOf(paragraph));
    lineStart += line.length + 1;
    let start = 0;
    for (let mark = 0; mark < paragraph.length; mark++) {
      if (!MARKS.includes(paragraph.charAt(mark))) continue;
      let closed = mark + 1;
      while (closed < paragraph.length && CLOSING.includes(paragraph.charAt(closed))) closed++;
      const referenced = referenceEnd(paragraph, closed);
      // Reference marks may have no space after them: "The sky is blue.[12]So is the sea."
      const hasNoSpace = referenced > closed && OPENING_OF_A_SENTENCE.test(paragraph.charAt(referenced));
      closed = referenced;
      let next = closed;
      while (next < paragraph.length && isSpaceCode(paragraph.charCodeAt(next))) next++;
      const isApart = next > closed || hasNoSpace;
      if (!isApart || next === paragraph.length || goesOn(paragraph, mark, next)) continue;
      push(offset + start, offset + closed, false);
      start = next;
      mark = next - 1;
    }
    push(offset + start, offset + paragraph.length, true);
  }
  return sentences;

  function goesOn(paragraph: string, mark: number, next: number): boolean {
    const isContinued = isLower(String.fromCodePoint(paragraph.codePointAt(next) ?? 0));
    return isContinued || rules.continues(paragraph, mark, next);
  }

  function push(from: number, to: number, endsParagraph: boolean): void {
    const piece = text.slice(from, to);
    if (strip(piece) !== "") sentences.push({ text: piece, from, endsParagraph });
  }
}

/** Returns the end of reference marks ("[12]", "²") and of the quotes and brackets that close after them. */
function referenceEnd(paragraph: string, start: number): number {
  REFERENCES.lastIndex = start;
  return REFERENCES.test(paragraph) ? REFERENCES.lastIndex : start;
}

/** Splits a text into sentences, but not within `[a word. With marks](/phonemes/)`. */
export function spokenSentences(text: string, rules?: Pick<SentenceRules, "continues">): readonly Sentence[] {
  const sentences = splitSentences(text, "wrapped", rules);
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

function continues(paragraph: string, mark: number, next: number): boolean {
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
    const said = word.startsWith("no") && isAfterSaying(paragraph.slice(Math.max(0, start - 18), start));
    const rest = paragraph.slice(next, next + 8);
    if (ROMAN_AHEAD.test(rest)) return !said && word !== "No";
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

/** "Take exit B.", "So do I.": a capital after a lower-case word is no initial. */
function isLetter(paragraph: string, start: number, word: string): boolean {
  return /^[A-Z]$/.test(word) && SMALL_WORD.test(paragraph.slice(Math.max(0, start - 20), start));
}

function isUsualBeginning(paragraph: string, next: number): boolean {
  return USUAL_BEGINNINGS.has(/^[A-Za-z]*/.exec(paragraph.slice(next, next + 20))?.[0] ?? "");
}

/** Returns the word before a mark without opening marks, or "" if it is too long. */
function wordBefore(paragraph: string, mark: number): string {
  let start = paragraph.lastIndexOf(" ", mark - 1) + 1;
  if (mark - start > MAX_ABBREVIATION_CHARS) return "";
  while (start < mark && OPENING.includes(paragraph.charAt(start))) start++;
  return paragraph.slice(start, mark);
}

/** Mail programs wrap lines at 60 to 100 characters. Shorter lines were meant. */
const MIN_WRAPPED_CHARS = 58;
const MAX_WRAPPED_CHARS = 120;
const OWN_LINE = /^(?:[-*+•‣·▪–—>|#]|\d{1,3}[.)] |[a-zA-Z][.)] |\[[ xX]?\])/u;
const ENDS_LINE = /[:|]$/u;
const SMALL = /^[\p{Ll}("“‘]*\p{Ll}/u;

/**
 * Replaces line feeds that only wrap a paragraph by spaces: before a lower-case line, and after a full line. Keeps
 * the length. Linear.
 */
export function withoutWraps(text: string): string {
  if (!text.includes("\n")) return text;
  const lines = text.split("\n");
  let joined = lines[0] ?? "";
  let maxWidth = widthOf(lines, 0);
  for (let i = 1; i < lines.length; i++) {
    const before = strip(lines[i - 1] ?? "");
    const line = lines[i] ?? "";
    if (before === "") maxWidth = widthOf(lines, i);
    joined += (isWrapped(before, strip(line), maxWidth) ? " " : "\n") + line;
  }
  return joined;
}

function isWrapped(before: string, line: string, maxWidth: number): boolean {
  if (before === "" || line === "" || OWN_LINE.test(line) || ENDS_LINE.test(before)) return false;
  const isFull = before.length >= MIN_WRAPPED_CHARS / 2 || before.endsWith(",");
  if (isFull && SMALL.test(line.slice(0, 12)) && !/[.!?…]["”’')]?$/u.test(before)) return true;
  if (maxWidth < MIN_WRAPPED_CHARS || maxWidth > MAX_WRAPPED_CHARS) return false;
  const word = line.indexOf(" ");
  const needed = before.length + 1 + (word < 0 ? line.length : word);
  return needed > maxWidth;
}

function widthOf(lines: readonly string[], start: number): number {
  let maxWidth = 0;
  for (let i = start; i < lines.length; i++) {
    const { length } = strip(lines[i] ?? "");
    if (length === 0) break;
    maxWidth = Math.max(maxWidth, length);
  }
  return maxWidth;
}

/**
 * Splits a very long sentence, so that reading takes only milliseconds: after a mark within it, else at a space, else
 * anywhere, but not inside a link.
 */
export function cutRunOn(sentence: Sentence): Sentence[] {
  if (sentence.text.length <= MAX_SENTENCE_CHARS) return [sentence];
  const pieces: Sentence[] = [];
  const end = sentence.from + sentence.text.length;
  let rest = sentence.text;
  while (rest.length > MAX_PIECE_CHARS) {
    const at = cutIn(rest.slice(0, MAX_PIECE_CHARS));
    const from = end - rest.length;
    pieces.push({ text: rest.slice(0, at).trimEnd(), from, endsParagraph: false, goesOn: true });
    rest = rest.slice(at).trimStart();
  }
  return [...pieces, { ...sentence, text: rest, from: end - rest.length }].filter(({ text }) => text !== "");
}

function cutIn(head: string): number {
  const mark = /^.*[,;:—]["”’')\]]*(?=\s)/su.exec(head)?.[0].length ?? 0;
  const at = mark >= MIN_PIECE_CHARS ? mark : head.search(/\s\S*$/u);
  const wanted = at >= MIN_PIECE_CHARS ? at : beforeUnit(head);
  const link = head.lastIndexOf("[", wanted - 1);
  const isInLink = link >= MIN_PIECE_CHARS && head.indexOf(")", link) < 0;
  return isInLink ? link : wanted;
}

/** Returns where a text can end: not within a character, nor within an entity of SSML. */
function beforeUnit(head: string): number {
  const open = head.search(/(?:[\ud800-\udbff]|&[^\s&;]{0,31})$/);
  return open < MIN_PIECE_CHARS ? head.length : open;
}

/** UTF-16 units. Prose rarely has longer sentences. */
const MAX_SENTENCE_CHARS = 500;
/** About 14 s of speech. */
const MAX_PIECE_CHARS = 250;
const MIN_PIECE_CHARS = 80;
