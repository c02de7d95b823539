import { cardinalWords, powerWords } from "../number-words.ts";
import { after, before, matchAt, patternRule, spoken, type TokenRule, withRanges } from "../rule.ts";
import { spelled } from "./identifiers.ts";

const ELEMENT =
  "(?:He|Li|Be|Ne|Na|Mg|Al|Si|Cl|Ar|Ca|Sc|Ti|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se|Br|Kr|Rb|Sr|Zr|Mo|Pd|Ag|Cd|Sn|Sb|Xe|Cs|Ba|Pt|Au|Hg|Pb|Bi|Ra|[HBCNOFPSKVIWU])";
const COUNT = "(?:\\d{1,3}|[₀-₉]{1,3})";
/** "H2SO4", "CO₂", "C6H12O6". */
const COUNTED = withRanges(
  `(?=[A-Z\\d]{0,8}(?:[CHNO]|[a-z]))(?:${ELEMENT}){1,5}${COUNT}(?:${ELEMENT}{1,4}${COUNT}?){0,6}(?![\\p{L}\\p{N}_-])`,
  "uy",
);
const UNCOUNTED = withRanges(
  /(?:(?:Na|Li|Ca|Mg|Zn|Fe|Cu|Ag|Al|Ti|Si|Mn|Pb|Ba)(?:Cl|Br|OH|O|F|S)|(?:H|K)(?:Cl|Br)|KOH)(?![\p{L}\p{N}_])/uy,
);
/** Also a company or a state. */
const GAS = withRanges(/CO(?![\p{L}\p{N}_'’.-])/uy);
const PARTS = withRanges(/[A-Z][a-z]?|\d{1,3}|[₀-₉]{1,3}/gu);
const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/** "CO2" → "C O two". */
export const formula: TokenRule = (text, at) => {
  const match =
    matchAt(COUNTED, text, at) ??
    matchAt(UNCOUNTED, text, at) ??
    (/, $/u.test(before(text, at)) ? null : matchAt(GAS, text, at));
  if (match === null) return null;
  const parts = match[0].match(PARTS) ?? [];
  const words = parts.map((part) => (/^[A-Z]/u.test(part) ? spelled(part) : countWords(part)));
  return spoken(match, words.join(" "));
};

const TERM = withRanges(/(\d{1,4})([a-ln-zA-Z])(?:\^(\d{1,2})|([²³]))(?![\p{L}\p{N}])/uy);
/** The left operand of a minus: a variable, possibly with a factor or a power. */
const VARIABLE_BEFORE = withRanges(
  /(?:^|[^\p{L}\p{N}])(?:(?:\d{1,4}[ai]|\d{0,4}[b-hj-z])(?:\^\d|[²³])?|\d{1,4}\))\)? $/u,
);
const USUAL_VARIABLE = /[nxyz²³)\d] $/u;
const OPERAND_AFTER = withRanges(/^- (?:\d|[b-hj-z](?![\p{L}\p{N}'’]))/u);

/** "2x^2" → "two X squared". */
export const term = patternRule(TERM, ([, factor = "", letter = "", written, sign]) => {
  const power = powerWords(written ?? (sign === "²" ? "2" : "3"));
  return `${cardinalWords(factor)} ${letter.toUpperCase()} ${power}`;
});

const INDEXED = withRanges(/([A-Za-z])([₀-₉]{1,3})(?![\p{L}\p{N}])/uy);

/** "x₁" → "X one". */
export const indexed = patternRule(
  INDEXED,
  ([, letter = "", index = ""]) => `${spelled(letter)} ${countWords(index)}`,
);

/** "x - 2". Between words it is a dash. */
export const difference: TokenRule = (text, at) => {
  const [earlier, rest] = [before(text, at), after(text, at)];
  if (!OPERAND_AFTER.test(rest) || !VARIABLE_BEFORE.test(earlier)) return null;
  const isSum = USUAL_VARIABLE.test(earlier) || /[=^]/u.test(earlier + rest);
  return isSum ? { words: "minus", end: at + 1 } : null;
};

function countWords(digits: string): string {
  return cardinalWords(digits.replace(/[₀-₉]/gu, (digit) => String(SUBSCRIPTS.indexOf(digit))));
}
