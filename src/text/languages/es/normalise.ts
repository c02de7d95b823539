import { wordMap } from "../../characters.ts";
import { electronicRules } from "../electronic-rules.ts";
import { createRewriter } from "../rewriter.ts";
import { ABBREVIATED } from "./abbreviations.ts";
import { LETTERS } from "./capitals.ts";
import { DATES } from "./dates.ts";
import { GROUPED, NUMBERS, ORDINALS } from "./numerals.ts";
import { QUANTITIES } from "./quantities.ts";

const ELECTRONIC = electronicRules({
  endings: "es|gob|mx|ar|cl|co|pe|uy|cat",
  signs: wordMap(". punto,- guion,_ guion bajo,/ barra,@ arroba,: dos puntos,+ más"),
  www: "triple uve doble",
  at: "arroba",
  number: "número",
  hash: "almohadilla",
});

/** Writes a Spanish sentence in words and marks. What has a narrower pattern comes first. */
export const normaliseSpanish = createRewriter({
  rules: [...ELECTRONIC, ...GROUPED, ...DATES, ...ABBREVIATED, ...ORDINALS, ...QUANTITIES, ...NUMBERS],
  signs: wordMap(
    "& y,+ más,= igual a,× por,÷ entre,< menor que,> mayor que,± más menos,@ arroba,% por ciento,‰ por mil,€ euros," +
      "$ dólares,£ libras,° grados,§ sección,∞ infinito,# almohadilla,² al cuadrado,³ al cubo,^ elevado a,√ raíz de",
  ),
  letters: LETTERS,
});
