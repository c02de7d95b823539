import { NUMERAL, romanValue } from "../numerals.ts";
import { BEFORE_NUMERAL, NEXT_WORD, type Rule, rule, wordRule } from "../rule.ts";
import { cardinal, fraction, ordinal, spelledDigits, spokenNumeral } from "./numbers.ts";
import { isCounted, isFeminine, NUMBERED_BY_ROMAN, oneBefore } from "./vocabulary.ts";

const COUNTRY = "(?:(\\(?\\+\\d{1,3}\\)?)[ -]?)?";
const GROUPS = "((?:\\(\\d{2,4}\\) ?)?\\d{2,4}(?:[ /.-]\\d{2,8}){1,5})";

/** Ranges, before dates and times are words: "9:00-13:00". */
export const RANGES: readonly Rule[] = [
  rule("(?<=(?<![\\p{L}\\d.,-])\\d[\\d.,:]{0,20} ?[%€]?) ?[-–] ?(?=[$€£]?\\d[\\d.,:]{0,20}(?![\\d-]))", " "),
];

/** What has several groups of digits. */
export const GROUPED: readonly Rule[] = [
  rule(`(?<![\\p{L}\\d.,/+(]|\\d[ -])${COUNTRY}${GROUPS}(?![\\p{L}\\d]|[.,:/-]\\d)`, telephone),
  rule(
    "(?<![\\p{L}\\d+])\\+(\\d{2})(3\\d{8,9}|0\\d{6,10})(?!\\d)",
    (_match, country, rest) => `più ${spelledDigits(country!)}, ${inThrees(rest!)}`,
  ),
  rule("(?<![\\d.,])[1-9]\\d{0,2}(?: \\d{3}){1,5}(?!\\d)", (match) => match.replaceAll(" ", ".")),
  rule("(?<=(?:CAP |, ))\\d{5}(?= \\p{Lu}\\p{Ll}|[,.]|$)", (match) => spelledDigits(match)),
];

/** Ordinals, which look like measures otherwise. */
export const ORDINALS: readonly Rule[] = [
  wordRule(`([IVXLC]{1,7})[°º]${NEXT_WORD}`, (match, numeral, noun) => {
    const value = romanValue(numeral!);
    return value === 0 ? match : ordinal(value, noun !== undefined && isFeminine(noun));
  }),
  rule(
    `(?<![\\p{L}\\d.,])(\\d{1,3})([ºª°]|esim[oaie])(?!\\p{L}|\\d)${NEXT_WORD}`,
    (match, digits, sign, next?) => {
      const isDegree = sign === "°" && !isNoun(next) && digits !== "1";
      return isDegree ? match : ordinal(Number(digits), /[ªa]$/.test(sign!));
    },
  ),
];

/** Roman numerals, fractions and all other numbers. */
export const NUMBERS: readonly Rule[] = [
  wordRule("(\\p{L}{2,12}) ([IVXLCDM]{1,9})(?!\\. \\p{Lu})", numberedByRoman),
  wordRule(`(?:[IVX]{2,7}|[VX](?= secolo))${NEXT_WORD}`, (match, noun) => {
    const value = romanValue(match);
    if (value === 0) return match;
    return isNoun(noun) ? ordinal(value, isFeminine(noun!)) : cardinal(String(value));
  }),
  rule(
    `${BEFORE_NUMERAL}(?:(\\d{1,3}) )?(\\d{1,4})/(\\d{1,4}|\\p{L}(?!\\p{L}))(?![\\d/])${NEXT_WORD}`,
    slashed,
  ),
  rule("(?<!\\d)(\\d{1,3}):(\\d{1,3})(?![\\d:])", (_match, above, below) => `${above} a ${below}`),
  rule("(?<![\\p{L}\\d.,])\\d{1,5}(?:\\.\\d{1,5}){2,5}(?![\\d.,])", (match) =>
    /^[1-9]\d{0,2}(?:\.\d{3})+$/.test(match) ? match : match.replaceAll(".", " punto "),
  ),
  rule("(?<=\\p{L})(?=\\d)|(?<=\\d)(?=\\p{L})", " "),
  rule("(?<![\\d.,])(?:0\\d{6,14}|[1-9]\\d{8,14})(?!\\d|[.,]\\d)", (match) => inThrees(match)),
  rule(`${BEFORE_NUMERAL}1 (?=(\\p{Ll}{1,30}))(?!\\d)`, (_match, noun) =>
    isNoun(noun) ? oneBefore(noun!) : "uno ",
  ),
  rule(`${BEFORE_NUMERAL}(${NUMERAL})`, (_match, numeral) => spokenNumeral(numeral!)),
  rule("\\d+", (match) => ` ${spelledDigits(match)} `),
];

function isNoun(word: string | undefined): boolean {
  return word !== undefined && /^\p{Ll}{2}/u.test(word) && isCounted(word);
}

function inThrees(digits: string): string {
  return (digits.match(/\d{1,3}/g) ?? []).map(spelledDigits).join(", ");
}

function telephone(match: string, country: string | undefined, rest: string): string {
  const groups = rest.match(/\d+/g) ?? [];
  const { length } = groups.join("");
  const isOneNumber = /^\d{1,3}(?:[ .]\d{3})+$/.test(rest) && !/^0|^(?:3\d\d|800) \d{3} \d{3,4}$/.test(rest);
  const isArea = /^\(?0\d|^3\d\d[ /.-]\d{6,7}$|^800/.test(rest);
  const isNumber = isArea ? length >= 7 : length >= 8 && groups.length > 2;
  if (country === undefined && (!isNumber || isOneNumber || /[.]/.test(rest))) return match;
  const code = country === undefined ? "" : `più ${spelledDigits(country.replace(/\D/g, ""))}, `;
  return code + groups.map((group) => (group.length > 4 ? inThrees(group) : spelledDigits(group))).join(", ");
}

/** "Capitolo IV" is "capitolo quarto", "Luigi XIV" is "Luigi quattordicesimo". */
function numberedByRoman(match: string, word: string, numeral: string): string {
  const value = romanValue(numeral);
  if (value === 0) return match;
  const lower = word.toLowerCase();
  const isName = /^\p{Lu}\p{Ll}/u.test(word) && /^[IVX]+$/.test(numeral) && isCounted(lower);
  if (!isName && !NUMBERED_BY_ROMAN.has(lower)) return match;
  return `${word} ${ordinal(value, isFeminine(lower) && !/^(?:papa|andrea|luca|nicola|legislatura)$/.test(lower))}`;
}

function slashed(match: string, whole: string | undefined, above: string, below: string, next = ""): string {
  if (match === "24/7") return "ventiquattro ore su ventiquattro";
  const part = fraction(Number(above), Number(below))?.replace(
    "un mezzo",
    isFeminine(next) ? "mezza" : "mezzo",
  );
  if (part === undefined) return match.replace("/", " barra ");
  return whole === undefined ? part : `${cardinal(whole)} e ${part.replace("mezza", "mezzo")}`;
}
