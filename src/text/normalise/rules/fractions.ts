import { isNounAfter } from "../number-context.ts";
import { cardinalWords, ordinalWords } from "../number-words.ts";
import {
  after,
  before,
  isQuoted,
  matchAt,
  pattern,
  type Spoken,
  spoken,
  type TokenRule,
  withRanges,
} from "../rule.ts";
import { PART_NEXT } from "./dates.ts";

export const VULGAR_SIGNS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒";
const VULGAR = new Map(
  Array.from(VULGAR_SIGNS, (sign) => [sign, sign.normalize("NFKC").split("⁄").map(Number)] as const),
);

const WITH_SIGN = withRanges(`(\\d{0,9}) ?([${VULGAR_SIGNS}])`, "yu");
const MIXED = pattern("(\\d{1,6})(?: |-)(\\d{1,2})[/⁄](\\d{1,3})(?!/)");
const SIMPLE = pattern("(\\d{1,3})[/⁄](\\d{1,3})(?![/\\d]|\\.\\d)");
/** "1-1½", "2-2 1/2". */
const WHOLE_TO = new RegExp(
  `(\\d{1,3}) ?[-–—] ?(?=\\d{1,3} ?[${VULGAR_SIGNS}]|\\d{1,3} \\d[/⁄]\\d{1,2}(?!\\d))`,
  "yu",
);
const FRACTION_TO = new RegExp(
  `(?<=\\d[/⁄]\\d{1,2}|[${VULGAR_SIGNS}]) ?[-–—] ?(?=\\d{1,3}(?![\\d/,])|\\d[/⁄]\\d|[${VULGAR_SIGNS}])`,
  "yu",
);
const USUAL: ReadonlySet<number> = new Set([12, 15, 16, 20, 24, 25, 30, 32, 50, 64, 100]);

/** "2 1/2" → "two and a half", "3½", "5/16", "⅔". Dates and pairs ("24/7") are tried before. */
export const fraction: TokenRule = (text, at) => {
  const whole = matchAt(WHOLE_TO, text, at);
  if (whole !== null) return spoken(whole, `${cardinalWords(whole[1] ?? "")} to `);
  const found = fractionAt(text, at);
  const joint = found === null ? null : matchAt(FRACTION_TO, text, found.end);
  if (found === null || joint === null) return found;
  return { words: `${found.words} to `, end: found.end + joint[0].length };
};

function fractionAt(text: string, at: number): Spoken | null {
  const signed = matchAt(WITH_SIGN, text, at);
  if (signed !== null) {
    const [above = 1, below = 2] = VULGAR.get(signed[2] ?? "") ?? [];
    return spoken(signed, withWhole(signed[1] ?? "", above, below));
  }
  const mixed = matchAt(MIXED, text, at);
  if (mixed !== null) {
    const [above, below] = [Number(mixed[2]), Number(mixed[3])];
    const end = at + mixed[0].length;
    if (isFraction(above, below) || (above > 0 && above < below && PART_NEXT.test(after(text, end)))) {
      const words = withWhole(mixed[1] ?? "", above, below);
      return inInches(text, end, words) ?? { words, end };
    }
  }
  const simple = matchAt(SIMPLE, text, at);
  if (simple === null) return null;
  const [above, below] = [Number(simple[1]), Number(simple[2])];
  const end = at + simple[0].length;
  if (/^ ?(?:[★⭐]|stars?\b)/u.test(after(text, end))) return null;
  if (!isFraction(above, below) || /[/.]$/u.test(before(text, at))) return null;
  if (
    below >= 10 &&
    !/^["″]/u.test(text.charAt(end)) &&
    !/^ (?:of|inch|in\b|cup|teaspoon|tablespoon|mile|full|the|a)/u.test(after(text, at + simple[0].length))
  )
    return null;
  return inInches(text, end, parts(above, below, "one")) ?? { words: parts(above, below, "one"), end };
}

function inInches(text: string, end: number, words: string): Spoken | null {
  if (!/^["″”]/u.test(text.charAt(end)) || isQuoted(text, end)) return null;
  const isThing = isNounAfter(text, end + 1);
  const isLess = !words.includes(" and ");
  return {
    words: `${isThing && isLess ? words.replace(/s$/u, "") : words} inch${isThing || isLess ? "" : "es"}`,
    end: end + 1,
  };
}

function isFraction(above: number, below: number): boolean {
  return above > 0 && above < below && (below <= 10 || USUAL.has(below));
}

function withWhole(whole: string, above: number, below: number): string {
  return whole === ""
    ? parts(above, below, "one")
    : `${cardinalWords(whole)} and ${parts(above, below, isVowelAhead(below) ? "an" : "a")}`;
}

/** "an eighth", "an eleventh", "an eightieth". */
function isVowelAhead(below: number): boolean {
  return /^(?:8|11$|18$)/.test(`${below}`);
}

function parts(above: number, below: number, one: "a" | "an" | "one"): string {
  const part = below === 2 ? "half" : below === 4 ? "quarter" : ordinalWords(String(below));
  if (above === 1) return `${one} ${part}`;
  return `${cardinalWords(String(above))} ${below === 2 ? "halves" : `${part}s`}`;
}
