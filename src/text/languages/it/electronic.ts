import { wordMap } from "../../characters.ts";
import { electronicRules } from "../electronic-rules.ts";

export const ELECTRONIC = electronicRules({
  endings: "it|de|fr|es|ch",
  signs: wordMap(". punto,- trattino,_ trattino basso,/ barra,@ chiocciola,: due punti,+ più"),
  www: "vu vu vu",
  at: "chiocciola",
  number: "numero",
  hash: "cancelletto",
});
