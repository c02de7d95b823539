import { wordMap } from "../../characters.ts";
import { electronicRules } from "../electronic-rules.ts";

export const ELECTRONIC = electronicRules({
  endings: "es|gob|mx|ar|cl|co|pe|uy|cat",
  signs: wordMap(". punto,- guion,_ guion bajo,/ barra,@ arroba,: dos puntos,+ más"),
  www: "triple uve doble",
  at: "arroba",
  number: "número",
  hash: "almohadilla",
});
