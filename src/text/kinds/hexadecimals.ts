import { spelled } from "./identifiers.ts";
import { light } from "./light.ts";
import { cardinalWords } from "./numerals.ts";
import { type Kind, matchAt } from "./spoken.ts";

const END = "(?![\\p{L}\\p{N}_])";
/** "#FF5733": six hexadecimal digits that are neither a number nor a word. */
export const COLOR = /^#(?=[\da-f]{0,5}\d)(?=\d{0,5}[a-f])[\da-f]{6}$/iu;
const COLOR_HERE = light(new RegExp(`#(?=[\\da-f]{0,5}\\d)(?=\\d{0,5}[a-f])([\\da-f]{6})${END}`, "iuy"));
const PREFIXED = light(new RegExp(`0[xX]([\\da-fA-F]{1,16})${END}`, "uy"));
const UUID = light(new RegExp(`[\\da-fA-F]{8}(?:-[\\da-fA-F]{4}){3}-[\\da-fA-F]{12}${END}`, "uy"));
const MAC = light(new RegExp(`[\\dA-Fa-f]{2}([:-])[\\dA-Fa-f]{2}(?:\\1[\\dA-Fa-f]{2}){4}${END}`, "uy"));
/** A short or long hash: letters and digits, each kind twice at least by turns. */
const HASH = light(
  new RegExp(
    `(?=[a-f]{0,6}\\d{1,6}[a-f]{1,6}\\d|\\d{0,6}[a-f]{1,6}\\d{1,6}[a-f]|\\d{1,6}[a-f]{2,6}\\d{2})[\\da-f]{7,64}${END}`,
    "uy",
  ),
);

/** Numbers of parcels and cars: letters and digits too many for a word. */
const SERIAL = light(
  new RegExp(`(?=[A-Z]{0,10}\\d)(?=\\d{0,20}[A-Z])(?=\\D{0,8}\\d\\D{0,8}\\d)[A-Z\\d]{11,40}${END}`, "uy"),
);

/** Hexadecimal numbers and what is written in them, sign by sign: "0x7B", "#FF5733", hashes, identifiers, MACs. */
export const hexadecimal: Kind = (text, at) => {
  const prefixed = matchAt(PREFIXED, text, at);
  if (prefixed !== null)
    return { words: `zero X ${oneByOne(prefixed[1] ?? "")}`, end: at + prefixed[0].length };
  const color = matchAt(COLOR_HERE, text, at);
  if (color !== null) return { words: `hash ${oneByOne(color[1] ?? "")}`, end: at + color[0].length };
  const grouped = matchAt(UUID, text, at) ?? matchAt(MAC, text, at);
  if (grouped !== null) {
    const groups = grouped[0].split(/[:-]/u).map(oneByOne);
    return { words: groups.join(", "), end: at + grouped[0].length };
  }
  const hash = matchAt(HASH, text, at) ?? matchAt(SERIAL, text, at);
  return hash === null ? null : { words: oneByOne(hash[0]), end: at + hash[0].length };
};

function oneByOne(digits: string): string {
  return Array.from(digits, (digit) => (/\d/u.test(digit) ? cardinalWords(digit) : spelled(digit))).join(" ");
}
