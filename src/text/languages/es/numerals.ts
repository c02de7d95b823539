import { NUMERAL, romanValue } from "../numerals.ts";
import { BEFORE_NUMERAL, NEXT_WORD, type Rule, rule, wordRule } from "../rule.ts";
import { cardinal, fraction, ordinal, spelledDigits, spokenNumeral } from "./numbers.ts";
import { FEMININE_DETERMINERS, isCounted, isFeminine, LABELS, UNSTRESSED } from "./vocabulary.ts";

const COUNTRY = "(?:(\\(?\\+\\d{1,3}\\)?)[ -]?)?";
const GROUPS = "((?:\\(\\d{2,4}\\) ?)?\\d{2,4}(?:[ -]\\d{2,4}){1,5})";

/** Telephone numbers and ranges, before dates and times are words. */
export const GROUPED: readonly Rule[] = [
  rule(`(?<![\\p{L}\\d.,/+(]|\\d[ -])${COUNTRY}${GROUPS}(?![\\p{L}\\d]|[.,:/-]\\d)`, telephone),
  rule("(?<![\\d.,])[1-9]\\d{0,2}(?: \\d{3}){1,5}(?!\\d)", (match) => match.replaceAll(" ", ".")),
  rule(
    "(?<=(?<![\\p{L}\\d.,-])\\d[\\d.,:]{0,20} ?[%€]?) ?[-–] ?(?=[$€£]?\\d[\\d.,:]{0,20}(?![\\d-]))",
    " a ",
  ),
];

/** Ordinals, which look like measures otherwise. */
export const ORDINALS: readonly Rule[] = [
  rule(
    `(?<=(?:(?<!\\p{L})(\\p{L}{1,6}) )?)(?<![\\p{L}\\d.,])(\\d{1,3})(\\.?(?:er[oa]?|[ºª°]|[rdtmvn][oa]))(?!\\p{L}|\\d)(?:\\.(?= \\p{Ll}))?${NEXT_WORD}`,
    ordinalSign,
  ),
];

/** Roman numerals, fractions and all other numbers. */
export const NUMBERS: readonly Rule[] = [
  wordRule(
    "([Ss]iglos?) ([IVXLC]{1,7})(?:( y | al? |-)([IVXLC]{1,7}))?",
    (_match, word, first, link, second) => {
      const to = second === undefined ? "" : `${link === "-" ? " a " : link}${century(second)}`;
      return `${word} ${century(first!)}${to}`;
    },
  ),
  wordRule("(\\p{L}{3,12}) ([IVXLCDM]{1,9})(?!\\. \\p{Lu})", numberedByRoman),
  wordRule(
    `(?:[IVX]{2,7}|(?<=^|(?:[Ee]l|[Ll]a|[Dd]el|[Aa]l) )[IVX](?= \\p{Lu}\\p{Ll}))${NEXT_WORD}`,
    romanBeforeNoun,
  ),
  rule(`${BEFORE_NUMERAL}(?:(\\d{1,3}) )?(\\d{1,4})/(\\d{1,4})(?![\\d/])${NEXT_WORD}`, slashed),
  rule("(?<!\\d)(\\d{1,3}):(\\d{1,3})(?![\\d:])", (_match, above, below) => `${above} a ${below}`),
  rule("(?<![\\p{L}\\d.,])\\d{1,5}(?:\\.\\d{1,5}){2,5}(?!\\d|[.,]\\d)", (match) =>
    /^[1-9]\d{0,2}(?:\.\d{3})+$/.test(match) ? match : match.replaceAll(".", " punto "),
  ),
  rule("(?<=\\p{L})(?=\\d)|(?<=\\d)(?=\\p{L})", " "),
  rule("(?<![\\d.,])\\d{8,15}(?![\\d]|[.,]\\d)", (match) =>
    (match.match(/\d{1,3}/g) ?? []).map(spelledDigits).join(", "),
  ),
  rule(
    `(?<=(?:(?<!\\p{L})(\\p{L}{1,12}) )?)${BEFORE_NUMERAL}(${NUMERAL})(?=(?: (\\p{L}{1,30}))?(?: (\\p{L}{1,30}))?)`,
    (_match, before, numeral, next, second) => counted(numeral!, before, next, second),
  ),
  rule("\\d+", (match) => ` ${spelledDigits(match)} `),
];

function telephone(match: string, country: string | undefined, rest: string): string {
  const groups = rest.match(/\d+/g) ?? [];
  const length = groups.join("").length;
  const isOneNumber = /^\d{1,3}(?: \d{3})+$/.test(rest) && !(length === 9 && /^[6-9]\d\d /.test(rest));
  const isDate = /^\d{4}-\d\d-\d\d$|^\d\d-\d\d-\d{2,4}$/.test(rest);
  const isLong = length >= 8 && groups.length > 2 && !isOneNumber && !isDate;
  const isLocal = /^\d{3}-\d{3}[1-9]$/.test(rest);
  if (!isLong && !isLocal && country === undefined && !rest.startsWith("(")) return match;
  const code = country === undefined ? "" : `más ${spelledDigits(country.replace(/\D/g, ""))}, `;
  return code + groups.map(spelledDigits).join(", ");
}

function ordinalSign(
  match: string,
  before: string | undefined,
  digits: string,
  sign: string,
  next?: string,
): string {
  const n = Number(digits);
  const isNamed = next !== undefined && /^\p{Ll}{3}/u.test(next) && isCounted(next);
  const isNoun = isNamed && !isFeminine(next) && !next.endsWith("s");
  if (/[º°]/.test(sign) && !sign.startsWith(".")) {
    const isAsked = isNoun || /^(?:el|del|al|su)$/i.test(before ?? "");
    const isSmall = sign === "º" && n <= 10 && !/^(?:a|hasta|menos|hace|unos|de|los)$/.test(before ?? "");
    if (!isAsked && !isSmall) return match;
  }
  return ordinal(n, /[ªa]$/.test(sign), sign.endsWith("er") || isNoun);
}

function century(numeral: string): string {
  const value = romanValue(numeral);
  return value === 0 ? numeral : value <= 10 ? ordinal(value) : cardinal(String(value));
}

/** "Capítulo IV" is a cardinal, "Felipe VI" an ordinal up to ten. */
function numberedByRoman(match: string, word: string, numeral: string): string {
  const value = romanValue(numeral);
  if (value === 0) return match;
  if (LABELS.has(word.toLowerCase())) return `${word} ${cardinal(String(value))}`;
  const isName =
    /^\p{Lu}\p{Ll}/u.test(word) && /^[IVX]+$/.test(numeral) && !UNSTRESSED.has(word.toLowerCase());
  if (!isName) return match;
  const isQueen = /(?:a|Isabel|Beatriz)$/.test(word);
  return `${word} ${value <= 10 ? ordinal(value, isQueen) : cardinal(String(value))}`;
}

/** "II Guerra Mundial", "XXV aniversario". */
function romanBeforeNoun(match: string, noun: string | undefined): string {
  const value = romanValue(match);
  if (value === 0) return match;
  const isOrdinal = noun !== undefined && isCounted(noun.toLowerCase()) && value <= 50;
  return isOrdinal ? ordinal(value, isFeminine(noun), true) : cardinal(String(value));
}

function slashed(match: string, whole: string | undefined, above: string, below: string, next = ""): string {
  if (match === "24/7") return "veinticuatro siete";
  const part = fraction(Number(above), Number(below));
  if (part === null) return match.replace("/", above.length > 3 ? " " : " barra ");
  const isAgreed = below === "2" ? isFeminine(next) : /^part/.test(next);
  const agreed = isAgreed ? part.replace(/o(s?)$/, "a$1") : part;
  const said = below === "2" ? agreed.replace("un ", "") : agreed;
  return whole === undefined ? said : `${cardinal(whole, "masculine")} y ${said}`;
}

function counted(numeral: string, before = "", next = "", second?: string): string {
  if (LABELS.has(before.toLowerCase())) return spokenNumeral(numeral);
  if (numeral === "1" && before === "la") return "una";
  const isNoun = next !== "" && isCounted(next) && (numeral === "1" || /s$|^mil$/.test(next));
  const isFeminineNoun = isNoun ? isFeminine(next, second) : FEMININE_DETERMINERS.has(before.toLowerCase());
  return spokenNumeral(numeral, isFeminineNoun ? "feminine" : isNoun ? "masculine" : "alone");
}
