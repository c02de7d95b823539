import { wordMap } from "../../characters.ts";
import { electronicRules } from "../electronic-rules.ts";
import { createRewriter } from "../rewriter.ts";
import { ABBREVIATED } from "./abbreviations.ts";
import { LETTERS } from "./capitals.ts";
import { DATES } from "./dates.ts";
import { GROUPED, NUMBERS, ORDINALS, RANGES } from "./number-rules.ts";
import { QUANTITIES } from "./quantities.ts";

const ELECTRONIC = electronicRules({
  endings: "it|de|fr|es|ch",
  signs: wordMap(". punto,- trattino,_ trattino basso,/ barra,@ chiocciola,: due punti,+ più"),
  www: "vu vu vu",
  at: "chiocciola",
  number: "numero",
  hash: "cancelletto",
});

/** Writes an Italian sentence in words and marks. What has a narrower pattern comes first. */
export const normaliseItalian = createRewriter({
  rules: [ELECTRONIC, RANGES, DATES, ABBREVIATED, GROUPED, ORDINALS, QUANTITIES, NUMBERS].flat(),
  signs: wordMap(
    "& e,+ più,= uguale a,× per,÷ diviso,< minore di,> maggiore di,± più o meno,@ chiocciola,% per cento,‰ per mille," +
      "€ euro,$ dollari,£ sterline,° gradi,§ paragrafo,∞ infinito",
  ),
  letters: LETTERS,
});
