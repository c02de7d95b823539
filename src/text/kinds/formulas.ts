import { spelled } from "./identifiers.ts";
import { light } from "./light.ts";
import { cardinalWords } from "./numerals.ts";
import { before, type Kind, matchAt } from "./spoken.ts";

const ELEMENT =
  "(?:He|Li|Be|Ne|Na|Mg|Al|Si|Cl|Ar|Ca|Sc|Ti|Cr|Mn|Fe|Co|Ni|Cu|Zn|Ga|Ge|As|Se|Br|Kr|Rb|Sr|Zr|Mo|Pd|Ag|Cd|Sn|Sb|Xe|Cs|Ba|Pt|Au|Hg|Pb|Bi|Ra|[HBCNOFPSKVIWU])";
const COUNT = "(?:\\d{1,3}|[₀-₉]{1,3})";
/** Elements with a count somewhere: "H2SO4", "CO₂", "C6H12O6". */
const COUNTED = light(
  new RegExp(
    `(?=[A-Z\\d]{0,8}(?:[CHNO]|[a-z]))(?:${ELEMENT}){1,5}${COUNT}(?:${ELEMENT}{1,4}${COUNT}?){0,6}(?![\\p{L}\\p{N}_-])`,
    "uy",
  ),
);
/** Salts and bases without a count: "NaCl", "KOH". */
const UNCOUNTED = light(
  /(?:(?:Na|Li|Ca|Mg|Zn|Fe|Cu|Ag|Al|Ti|Si|Mn|Pb|Ba)(?:Cl|Br|OH|O|F|S)|(?:H|K)(?:Cl|Br)|KOH)(?![\p{L}\p{N}_])/uy,
);
/** A gas where one may be meant; a company or a state is written so too. */
const GAS = light(/CO(?![\p{L}\p{N}_'’.-])/uy);
const PARTS = light(/[A-Z][a-z]?|\d{1,3}|[₀-₉]{1,3}/gu);
const SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉";

/** Chemical formulas, letter by letter with their counts: "CO2" → "C O two". */
export const formula: Kind = (text, at) => {
  const match =
    matchAt(COUNTED, text, at) ??
    matchAt(UNCOUNTED, text, at) ??
    (/, $/u.test(before(text, at)) ? null : matchAt(GAS, text, at));
  if (match === null) return null;
  const words = (match[0].match(PARTS) ?? []).map(partWords).join(" ");
  return { words, end: at + match[0].length };
};

function partWords(part: string): string {
  if (/^[A-Z]/u.test(part)) return spelled(part);
  return cardinalWords(
    Array.from(part, (digit) => {
      const value = SUBSCRIPTS.indexOf(digit);
      return value < 0 ? digit : String(value);
    }).join(""),
  );
}
