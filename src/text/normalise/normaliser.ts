import { isSpaceCode, SPACE } from "../characters.ts";
import { type Replacement, RewrittenText } from "../rewritten-text.ts";
import type { NormaliserTables } from "../tables/text-tables.ts";
import { emphasis, type IsListed, letterA, slippedCapital, withoutShouting } from "./capitals.ts";
import { withoutMarkup } from "./markup.ts";
import { isInSeries } from "./number-context.ts";
import { romanValue } from "./number-words.ts";
import { after, before, firstMatch, isWordCharacter, type TokenRule, withRanges } from "./rule.ts";
import { abbreviations, SMALL_ABBREVIATIONS } from "./rules/abbreviations.ts";
import {
  codeDigits,
  groupedDigits,
  hexadecimal,
  letterCode,
  listed,
  military,
  phone,
  phoneWord,
} from "./rules/codes.ts";
import { dayMonth, daysOfMonth, monthDay, numericDate, shortYear, weekday } from "./rules/dates.ts";
import { electronicRule, version } from "./rules/electronic.ts";
import { difference, formula, indexed, term } from "./rules/formulas.ts";
import { fraction, VULGAR_SIGNS } from "./rules/fractions.ts";
import { identifiers } from "./rules/identifiers.ts";
import { magnitude, multiple } from "./rules/magnitudes.ts";
import { angle, byOrTimes, feetAndInches, measure, unitWithoutDigits } from "./rules/measures.ts";
import { moneyAfter, moneyBefore, roundSums } from "./rules/money.ts";
import { addressPart, direction, road, stateAndZip } from "./rules/places.ts";
import {
  exactDecimal,
  letterPower,
  pair,
  pointed,
  power,
  range,
  scientific,
  slashed,
} from "./rules/ranges.ts";
import { romanNumerals } from "./rules/roman.ts";
import { greek, signs } from "./rules/signs.ts";
import { duration, hoursByLetter, lapTime, ratio, time, zoneOffset } from "./rules/times.ts";
import { UNITS } from "./rules/units.ts";
import { AFTER_A_BOOK, book, verse } from "./rules/verses.ts";

/** Writes out what is not spoken as written: times, dates, money, measures, abbreviations, numerals, signs. */
export type Normaliser = (sentence: RewrittenText) => RewrittenText;

/** Single characters for several: "Ⅳ", "㎏". */
const COMPATIBILITY_SIGN = /[\u2160-\u217f]+|[\u3371-\u33df]/gu;
/** An ordinal sign or a ring typed for the degree sign. */
const DEGREE = withRanges(/[º˚](?<=\d ?.)(?!\p{Ll})/gu);
/** The apostrophe for the lost beginning of "'Tis". */
const APOSTROPHE_OF_IT = /(?<![a-z\d])['‘](?=(?:tis|twas|twere|twill|twould)(?![a-z']))/giu;
/** A word that is divided at the end of a line. */
const HYPHENATED = /(\p{L}{1,40})[-\u2010]\r?\n[ \t]*(\p{Ll}{1,40})/gu;
const THREE_ALIKE = /([a-z])\1\1/i;
const LENGTHENED = withRanges(
  /(?<![\p{L}\p{N}_.@/#&'-])(?=[a-z]{0,30}?([a-z])\1\1)[a-z]{3,60}(?![\p{L}\p{N}_@/]|\.\p{L})/giu,
);
/** Sounds and laughs that no dictionary lists. */
const SOUNDS: ReadonlySet<string> = new Set(["shh", "brr", "grr", "pff", "zzz", "lol"]);
/** Words that a lengthened spelling rarely stands for: "gooo" is "go", not "goo". */
const UNLIKELY: ReadonlySet<string> = new Set(["goo", "thee", "bee"]);
const MAX_SPELLINGS = 16;
/** "th' end", "singin'". */
const CLIPPED_THE = /(?<![a-z\d'])th'(?= [a-z])/giu;
const CLIPPED_ING = withRanges(/(?<![\p{L}\p{N}'])(\p{L}{2,20})in'(?!\p{L})(?=( \p{Ll})?)/gu);
const DECIMAL_COMMA =
  /(?<![\d.,:/])(\d{1,3}(?:\.\d{3}){1,4}|\d{1,9}),(\d{1,9})(?![\d_]|[.,:]\d|\/(?!(?:5|10)(?!\d))\d)/gu;
const UNIT_NEXT = withRanges(/^ ?([\p{L}µμ]{1,5}[²³23]?)(?![\p{L}\p{N}])/u);
/** Contexts in which "1,2" is a list. */
const LIST_BEFORE = new RegExp(`(?<!,\\d{0,8})\\d,? ?$|[[({]$|${AFTER_A_BOOK.source}`, "u");
const LIST_NEXT = /^(?:,? (?:and|or|&)|,) \d{1,4}(?![\d.,]*\d)/u;
const SPACES = new RegExp(`[${SPACE}]+`, "gu");
/** A typewriter's dash: "left--or so I thought". */
const TYPED_DASH = withRanges(/(?<=[\p{L}\p{N}.,!?'"”’)])-{2,3}(?=["“”'‘(]?[\p{L}\p{Co}])/gu);
const BROKEN_OFF = withRanges(/(?<=\p{L}{2})-{2,3}(?=["”'’]?(?: |$))/gu);
const TYPED_RANGE = /(?<=\d)--(?=\d)/g;
const SPACED_HYPHEN = /(?<=[^\s-]) --? (?=[^\s-])/g;

/**
 * @param isListed whether a dictionary has the word; initials are not words
 * @param isCommon whether it is also no rare name
 */
export function createNormaliser(
  tables: NormaliserTables,
  isListed: IsListed = () => false,
  isCommon: IsListed = isListed,
): Normaliser {
  const classify = createClassifier(tables, isListed);
  return (sentence) => {
    const whole = withoutHyphenation(sentence, isListed);
    const spelled = withUsualSpelling(withOneKindOfMark(whole), isListed, isCommon);
    const written = withoutShouting(tidySpaces(withoutMarkup(withPlainSigns(spelled))), isListed);
    const words = classify(written);
    return tidySpaces(
      tidySpaces(words.respelled(words.text.replaceAll("_", " "))).replace(/ +(?=[,.;:!?])/g, ""),
    )
      .replace(TYPED_DASH, " — ")
      .replace(BROKEN_OFF, "—")
      .replace(SPACED_HYPHEN, " — ");
  };
}

/** Replaces apostrophes and dashes by the ones that the rules look for. */
function withOneKindOfMark(sentence: RewrittenText): RewrittenText {
  const tidy = tidySpaces(sentence);
  return tidy.respelled(tidy.text.replaceAll("’", "'").replaceAll("\u2012", "-").replaceAll("\u2015", "—"));
}

/** Replaces decimal commas, "㎏", "Ⅳ", "º", "'Tis" and "3--5" by what the rules look for. */
function withPlainSigns(text: RewrittenText): RewrittenText {
  return (/\d,\d/.test(text.text) ? text.replace(DECIMAL_COMMA, withDecimalPoint) : text)
    .replace(COMPATIBILITY_SIGN, (sign: string, at: number, all: string) => {
      const letters = sign.normalize("NFKC");
      // After a name, the rule for Roman numerals decides: "Henry Ⅷ".
      const isNumber = sign < "\u2180" && !/\p{Lu}\p{L}*[.)]? $/u.test(before(all, at));
      return isNumber ? `${romanValue(letters.toUpperCase())}` : letters;
    })
    .replace(DEGREE, "°")
    .replace(APOSTROPHE_OF_IT, "")
    .replace(TYPED_RANGE, "–");
}

/** Joins words that are divided at a line's end, with a hyphen if only their parts are words: "well-known". */
function withoutHyphenation(sentence: RewrittenText, isListed: IsListed): RewrittenText {
  if (!sentence.text.includes("\n")) return sentence;
  return sentence.replace(HYPHENATED, (_written, first: string, second: string) => {
    const whole = first + second;
    const isWord = isListed(whole) || isListed(whole.replace(/(?:'s|s|ed|ing|ly)$/u, ""));
    return isWord || (first.length > 1 && !(isListed(first) && isListed(second)))
      ? whole
      : `${first}-${second}`;
  });
}

/** Writes "Nooooo" as "No", "singin'" as "singing" and "th'" as "the". */
function withUsualSpelling(text: RewrittenText, isListed: IsListed, isCommon: IsListed): RewrittenText {
  const spelled = THREE_ALIKE.test(text.text)
    ? text.replace(LENGTHENED, (word) => (isListed(word) ? word : shortened(word, isCommon)))
    : text;
  if (!/(?:in|th)'/iu.test(spelled.text)) return spelled;
  return spelled
    .replace(CLIPPED_THE, (word) => word.replace("'", "e"))
    .replace(CLIPPED_ING, (word, stem: string, next: string | undefined, at: number, all: string) => {
      const isVerb = [stem, `${stem}e`, stem.replace(/(.)\1$/u, "$1")].some((verb) => isListed(verb));
      const isQuoted = /(?:^|[\s(])'[^']{0,60}$/u.test(before(all, at));
      const isClipped = (isVerb && !isListed(`${stem}in`)) || (next !== undefined && isListed(`${stem}ing`));
      return isClipped && !isQuoted ? `${stem}ing` : word;
    });
}

/** Returns the word with one or two of each run of three or more letters, if that is a word; else unchanged. */
function shortened(word: string, isCommon: IsListed): string {
  const isShouted = word === word.toUpperCase();
  const isKnown = (spelling: string): boolean =>
    SOUNDS.has(spelling.toLowerCase()) || (isCommon(spelling) && !UNLIKELY.has(spelling.toLowerCase()));
  if (/^(.)\1+$/iu.test(word))
    return isKnown(word.slice(0, 3).toLowerCase()) ? word.slice(0, 3).toLowerCase() : word;
  if (/^[ivxlcdm]+$/iu.test(word) || /^([A-Z])\1/u.test(word)) return word;
  let candidates = [""];
  for (const [run] of (isShouted ? word.toLowerCase() : word).matchAll(/(.)\1*/giu)) {
    const [one = "", two = ""] = run;
    const ways = run.length > 2 ? [one + two, one] : [run];
    candidates = ways.flatMap((way) => candidates.map((start) => start + way)).slice(0, MAX_SPELLINGS);
  }
  return candidates.find(isKnown) ?? word;
}

/** "21,5" → "21.5", unless the comma may separate thousands or a list: "pages 1,2", "1,2 and 3", "(2,3)". */
function withDecimalPoint(written: string, whole: string, part: string, at: number, all: string): string {
  const [earlier, rest] = [before(all, at), after(all, at + written.length)];
  const unit = UNIT_NEXT.exec(rest)?.[1];
  const isMeasured = /^ ?[°℃℉%‰]/u.test(rest) || (unit !== undefined && UNITS.has(unit));
  const isNoDecimal = /^(?:(?:19|20)\d\d|\d{7,}),|^[1-9](?:\d{3,},\d{4}|\d{0,2},(?:19|20)\d\d$)/u.test(
    written,
  );
  const isList =
    LIST_BEFORE.test(earlier) || isInSeries(earlier) || LIST_NEXT.test(rest) || /^[1-9],\d$/u.test(all);
  if (part.length === 3 && !/^0$|\./u.test(whole)) return written;
  return isMeasured || !(isNoDecimal || isList) ? `${whole.replaceAll(".", "")}.${part}` : written;
}

function tidySpaces(traced: RewrittenText): RewrittenText {
  const { text } = traced;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isSpaceCode(code) && (code !== 0x20 || i === 0 || i === text.length - 1 || text[i - 1] === " ")) {
      return traced.replace(SPACES, " ").stripped();
    }
  }
  return traced;
}

const NUMBER_RUN = withRanges(/\d{1,200}(?:[.,]\d{1,200}){0,40}[\p{L}\p{N}_'’]{0,200}/uy);
const WORD = withRanges(/[\p{L}\p{N}_'’]{1,200}/uy);
const TOUCHING = withRanges(/[\p{L}\p{N}.)%]/u);
const WARM_UP_TEXT =
  "I met Dr. King on Elm St. at 3:30 p.m. on Nov. 5, 2020, Mon, 5/6 and 7 Apr. She paid $45-$50, 20 € and 2 kg (5%). " +
  'See a.b@c.org, x_y, Chapter IV, 1 1/2, 10^6, v3.1, 6-4, 98/97, "code" 0427, +1 646 555 0184, #1, ~2, -3, 5\'6" & I. ' +
  "UTC+2, F5, CO2, 0x7B, 1.2M users, 401k, John 3:16, 1600 hours, 1:23.4, 51°30'N, Ste 200, x² == π, 4.5 ★, .22 --a-b.";
/** A lower-case word surrounded by nothing that a rule looks for. */
const PLAIN_WORD = /[a-z]{2,40}(?:'[a-z]{1,3})?(?= |$|[,;!?]|\.(?: |$))/uy;

/** Rules for tokens that begin with a digit. The first that fits decides. */
const DIGIT_RULES: readonly TokenRule[] = [
  hexadecimal,
  numericDate,
  phoneWord,
  phone,
  moneyAfter,
  groupedDigits,
  verse,
  lapTime,
  hoursByLetter,
  time,
  ratio,
  daysOfMonth,
  dayMonth,
  military,
  duration,
  angle,
  feetAndInches,
  pair,
  fraction,
  term,
  scientific,
  magnitude,
  measure,
  byOrTimes,
  multiple,
  letterCode,
  power,
  version,
  range,
  slashed,
  codeDigits,
  listed,
  exactDecimal,
];

function letterRules(tables: NormaliserTables, isListed: IsListed): readonly TokenRule[] {
  return [
    hexadecimal,
    book,
    romanNumerals(tables),
    monthDay,
    weekday,
    moneyBefore,
    stateAndZip,
    addressPart,
    direction,
    road,
    abbreviations(tables),
    unitWithoutDigits,
    version,
    formula,
    zoneOffset,
    greek,
    indexed,
    letterPower,
    letterA,
    slippedCapital(isListed),
    letterCode,
    identifiers(isListed),
    emphasis,
  ];
}

function signRules(tables: NormaliserTables): readonly TokenRule[] {
  return [
    roundSums,
    moneyBefore,
    hexadecimal,
    phone,
    fraction,
    measure,
    pointed,
    difference,
    shortYear,
    signs(tables),
  ];
}

/**
 * Rewrites each token by the first rule that fits (classes after Sproat & Jaitly 2016 and Zhang et al. 2019). Whole
 * numbers and plain words stay.
 */
function createClassifier(
  tables: NormaliserTables,
  isListed: IsListed,
): (sentence: RewrittenText) => RewrittenText {
  const electronic = electronicRule(isListed);
  const atLetters = letterRules(tables, isListed);
  const atSigns = signRules(tables);

  // The first use compiles a pattern, the second optimises it: both should happen before the first request.
  classify(RewrittenText.of(WARM_UP_TEXT));
  classify(RewrittenText.of(WARM_UP_TEXT));
  return classify;

  function classify(traced: RewrittenText): RewrittenText {
    const { text } = traced;
    const said: Replacement[] = [];
    let copied = 0;
    for (let at = 0; at < text.length; ) {
      const found = tokenAt(text, at);
      if (found.words !== null) {
        const before = at > copied ? text.slice(copied, at) : (said.at(-1)?.words ?? "");
        const words = withSpaces(found.words, before, text.charAt(found.end));
        said.push({ from: at, to: found.end, words });
        copied = found.end;
      }
      at = found.end;
    }
    return traced.edited(said);
  }

  /** Returns the words for the token at a position (`null` keeps it) and where the token ends. */
  function tokenAt(text: string, at: number): { readonly words: string | null; readonly end: number } {
    const code = text.charCodeAt(at);
    if (code === 0x20) return { words: null, end: at + 1 };
    const isLower = code >= 0x61 && code <= 0x7a;
    if (isLower) {
      PLAIN_WORD.lastIndex = at;
      if (PLAIN_WORD.test(text) && !isKnownSmall(text, at)) return { words: null, end: PLAIN_WORD.lastIndex };
    }
    const isDigit = code >= 0x30 && code <= 0x39;
    const isRunStart =
      at === 0 || isSpaceCode(text.charCodeAt(at - 1)) || "([{\"'“‘".includes(text.charAt(at - 1));
    const found =
      (isRunStart ? electronic(text, at) : null) ?? firstMatch(rulesAt(text, at, isDigit), text, at);
    if (found !== null && found.end > at) return found;
    if ("'‘’".includes(text.charAt(at)) && /\d/u.test(text.charAt(at + 1)))
      return { words: null, end: at + 1 };
    const run = isDigit ? NUMBER_RUN : WORD;
    run.lastIndex = at;
    return {
      words: null,
      end: run.test(text) ? run.lastIndex : at + (code >= 0xd800 && code <= 0xdbff ? 2 : 1),
    };
  }

  function rulesAt(text: string, at: number, isDigit: boolean): readonly TokenRule[] {
    if (isDigit) return DIGIT_RULES;
    return isWordCharacter(text.charAt(at)) && !VULGAR_SIGNS.includes(text.charAt(at)) ? atLetters : atSigns;
  }
}

/** Lower-case words that a rule may begin with, in addition to numerals: "vs", "ppl", "min". */
const SMALL: ReadonlySet<string> = new Set(["vs", "aka", ...SMALL_ABBREVIATIONS, ...UNITS.keys()]);

function isKnownSmall(text: string, at: number): boolean {
  const word = text.slice(at, PLAIN_WORD.lastIndex);
  return text.charAt(PLAIN_WORD.lastIndex) === "." || SMALL.has(word) || /^[ivxlc]+$/.test(word);
}

function withSpaces(words: string, before: string, next: string): string {
  const touches = TOUCHING.test(before.charAt(before.length - 1)) && isWordCharacter(words.charAt(0));
  const goesOn = isWordCharacter(next) && !words.endsWith(" ");
  return `${touches ? " " : ""}${words}${goesOn ? " " : ""}`;
}
