import { spelled } from "./identifiers.ts";
import { light } from "./light.ts";
import { cardinalWords, ordinalWords } from "./numerals.ts";
import { after, before, type Kind, matchAt } from "./spoken.ts";

const TERM = light(/(\d{1,4})([a-ln-zA-Z])(?:\^(\d{1,2})|([²³]))(?![\p{L}\p{N}])/uy);
/** A variable, perhaps with a number before it or a power behind: what a minus takes from. */
const VARIABLE_BEFORE = light(/(?:^|[^\p{L}\p{N}])\d{0,4}(?:[b-hj-z](?:\^\d|[²³])?|\d\))\)? $/u);
const USUAL_VARIABLE = /[nxyz²³)\d] $/u;
const OPERAND_AFTER = light(/^- (?:\d|[b-hj-z](?![\p{L}\p{N}'’]))/u);

/** "2x^2" → "two X squared". */
export const term: Kind = (text, at) => {
  const match = matchAt(TERM, text, at);
  if (match === null) return null;
  const [whole, factor = "", letter = "", written, sign] = match;
  const power = written ?? (sign === "²" ? "2" : "3");
  const raised = power === "2" ? "squared" : power === "3" ? "cubed" : `to the ${ordinalWords(power)}`;
  return { words: `${cardinalWords(factor)} ${letter.toUpperCase()} ${raised}`, end: at + whole.length };
};

const INDEXED = light(/([A-Za-z])([₀-₉]{1,3})(?![\p{L}\p{N}])/uy);

/** "x₁" → "X one". */
export const indexed: Kind = (text, at) => {
  const match = matchAt(INDEXED, text, at);
  if (match === null) return null;
  const [whole, letter = "", index = ""] = match;
  const digits = Array.from(index, (digit) => "₀₁₂₃₄₅₆₇₈₉".indexOf(digit)).join("");
  return { words: `${spelled(letter)} ${cardinalWords(digits)}`, end: at + whole.length };
};

/** "x - 2": a minus, where a dash in prose has words around it. */
export const difference: Kind = (text, at) => {
  const [earlier, rest] = [before(text, at), after(text, at)];
  if (!OPERAND_AFTER.test(rest) || !VARIABLE_BEFORE.test(earlier)) return null;
  const isSum = USUAL_VARIABLE.test(earlier) || /[=^]/u.test(earlier + rest);
  return isSum ? { words: "minus", end: at + 1 } : null;
};
