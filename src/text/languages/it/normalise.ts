import { wordMap } from "../../characters.ts";
import { createRewriter } from "../rewriter.ts";
import { ABBREVIATED } from "./abbreviations.ts";
import { LETTERS } from "./capitals.ts";
import { DATES } from "./dates.ts";
import { ELECTRONIC } from "./electronic.ts";
import { GROUPED, NUMBERS, ORDINALS, RANGES } from "./number-rules.ts";
import { QUANTITIES } from "./quantities.ts";

/** Writes an Italian sentence in words and marks. What has a narrower pattern comes first. */
export const normaliseItalian = createRewriter({
  rules: [
    ...ELECTRONIC,
    ...RANGES,
    ...DATES,
    ...ABBREVIATED,
    ...GROUPED,
    ...ORDINALS,
    ...QUANTITIES,
    ...NUMBERS,
  ],
  signs: wordMap(
    "& e,+ più,= uguale a,× per,÷ diviso,< minore di,> maggiore di,± più o meno,@ chiocciola,% per cento,‰ per mille," +
      "€ euro,$ dollari,£ sterline,° gradi,§ paragrafo,∞ infinito",
  ),
  letters: LETTERS,
});
