import { SPACE, WORD } from "../characters.ts";
import type { NormaliserTables } from "../tables.ts";
import { alternatives, counted, NUMBER, type Rewriting, rewriting } from "./rewriting.ts";

const S = `[${SPACE}]`;
const APART = `(?<![${WORD}.])`;
const NO_WORD = `(?![${WORD}])`;
const BIG = "hundred|thousand|million|billion|trillion";
const BIG_LETTERS: ReadonlyMap<string, string> = new Map([
  ["k", "thousand"],
  ["m", "million"],
  ["b", "billion"],
]);

/** Money that is not simply a sign and a number (the lexicon reads those), degrees, and units of measure. */
export function amounts(tables: NormaliserTables): Rewriting[] {
  const currency = (sign: string): readonly [string, string] => tables.currency.get(sign) ?? [sign, sign];
  const units = tables.units;
  const big = `(${BIG}|[kKmMbB]${NO_WORD})`;
  return [
    rewriting(
      `([$£€])(${NUMBER})${S}?${big}`,
      (_match, sign = "", count = "", scale = "") => `${count} ${scaleWord(scale)} ${currency(sign)[1]}`,
      { needsDigit: true },
    ),
    rewriting(
      `${APART}(${NUMBER})${S}?¢`,
      (_match, count = "") => `${count} ${counted(count, currency("¢"))}`,
      { needsDigit: true },
    ),
    rewriting(
      `(?<![${WORD}])([¥₹₩]|Rs\\.?|USD|EUR|GBP)${S}?(${NUMBER})(?:${S}?(${BIG}|[kKmMbB]${NO_WORD}))?`,
      (_match, sign = "", count = "", scale) => {
        const forms = currency(sign.endsWith(".") ? sign.slice(0, -1) : sign);
        return scale === undefined
          ? `${count} ${counted(count, forms)}`
          : `${count} ${scaleWord(scale)} ${forms[1]}`;
      },
      { needsDigit: true },
    ),
    rewriting(
      `${APART}(-?${NUMBER})${S}?°${S}?([CF])?${NO_WORD}`,
      (_match, count = "", scale) => {
        const name = scale === "C" ? " Celsius" : scale === "F" ? " Fahrenheit" : "";
        return `${count} ${counted(count, ["degree", "degrees"])}${name}`;
      },
      { needsDigit: true },
    ),
    rewriting(
      `${APART}(-?${NUMBER})${S}?(${alternatives(units.keys())})${NO_WORD}`,
      (_match, count = "", unit = "") => `${count} ${counted(count, units.get(unit) ?? [unit, unit])}`,
      { needsDigit: true },
    ),
  ];
}

function scaleWord(written: string): string {
  return BIG_LETTERS.get(written.toLowerCase()) ?? written;
}
