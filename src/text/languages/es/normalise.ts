import { SPACE, wordMap } from "../../characters.ts";
import { withoutMarkup } from "../../normalise/markup.ts";
import type { RewrittenText } from "../../rewritten-text.ts";
import { ABBREVIATED } from "./abbreviations.ts";
import { LETTERS, withoutShouting } from "./capitals.ts";
import { DATES } from "./dates.ts";
import { ELECTRONIC } from "./electronic.ts";
import { GROUPED, NUMBERS, ORDINALS } from "./numerals.ts";
import { QUANTITIES } from "./quantities.ts";
import { type Rule, rule } from "./rule.ts";

const SPACES = new RegExp(`[${SPACE}]+`, "gu");

/** Other spellings of what the rules look for. */
const PLAIN: readonly Rule[] = [
  [/[Ee]-mail/g, "email"],
  [/(?<=\d)['’](?=\d)/g, ","],
  [/(?<=\d)['’](?=[ .,;]|$)/g, "′"],
  [/½/g, " 1/2"],
  [/¼/g, " 1/4"],
  [/¾/g, " 3/4"],
  [/℃/g, "°C"],
  [/m2(?![\p{L}\p{N}])/gu, "m²"],
  [/m3(?![\p{L}\p{N}])/gu, "m³"],
  [/[\u2010\u2011\u2012]/g, "-"],
  [/ -{1,3} |(?<=\S)--(?=\S)/g, " — "],
];

const SIGNS: readonly Rule[] = Array.from(
  wordMap(
    "& y,+ más,= igual a,× por,÷ entre,< menor que,> mayor que,± más menos,@ arroba,% por ciento,‰ por mil,€ euros," +
      "$ dólares,£ libras,° grados,§ sección,∞ infinito",
  ),
  ([sign, words]) => [new RegExp(`\\${sign}`, "g"), ` ${words} `] as const,
);

const TIDY: readonly Rule[] = [rule("[*_~^`|\\\\{}/]", " "), [/ {2,}/g, " "], [/ (?=[,.;:!?…])/g, ""]];

/** The order matters: what has a narrower pattern comes first, and later rules see the words of earlier ones. */
const PASSES: readonly Rule[] = [
  ...PLAIN,
  ...ELECTRONIC,
  ...GROUPED,
  ...DATES,
  ...ABBREVIATED,
  ...ORDINALS,
  ...QUANTITIES,
  ...NUMBERS,
  ...SIGNS,
  ...LETTERS,
  ...TIDY,
];

/** Writes a Spanish sentence in words and marks. */
export function normaliseSpanish(sentence: RewrittenText): RewrittenText {
  const spaced = withoutShouting(withoutMarkup(sentence.replace(SPACES, " ").stripped()));
  return PASSES.reduce((text, [pattern, words]) => text.replace(pattern, words as string), spaced).stripped();
}
