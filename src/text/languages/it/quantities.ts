import { alternatives } from "../../normalise/rule.ts";
import { NUMERAL, readNumeral } from "../numerals.ts";
import { BEFORE_NUMERAL, type Rule, rule, UNIT, UNIT_PER } from "../rule.ts";
import { cardinal, spokenNumeral } from "./numbers.ts";
import { CURRENCIES, isFeminine, oneBefore, plural, UNITS } from "./vocabulary.ts";

const SIGN = `(${alternatives(CURRENCIES.keys())})`;
const SCALE = "(?: ?(mila|mln|milione|milioni|mld|miliardo|miliardi|M|k)(?![\\p{L}\\p{N}])(?: di)?)?";
const SCALES: ReadonlyMap<string, string> = new Map([
  ["mln", "milioni"],
  ["M", "milioni"],
  ["mld", "miliardi"],
  ["k", "mila"],
]);
const AFTER_UNIT = "(?![\\p{L}\\p{N}/'’])(?:\\.(?= \\p{Ll}))?";

/** Money, percentages and measures. */
export const QUANTITIES: readonly Rule[] = [
  rule('(?<![^\\s(\\[«"“])[-−](?=[$€£¥]? ?\\d)', "meno "),
  rule("(?<=\\d) ?[x×] ?(?=\\d)", " per "),
  rule(`(?<![\\p{L}\\p{N}$])${SIGN} ?(${NUMERAL})${SCALE}`, (_match, sign, numeral, scale) =>
    money(sign!, numeral!, scale),
  ),
  rule(
    `${BEFORE_NUMERAL}(${NUMERAL})${SCALE} ?${SIGN}(?!\\p{L})(?:\\/(\\p{L}{1,6}))?`,
    (_match, numeral, scale, sign, per) =>
      money(sign!, numeral!, scale) + (per === undefined ? "" : ` ${perOne(UNITS.get(per)?.[0] ?? per)}`),
  ),
  rule("(?<=\\d ?)(mln|mld)(?!\\p{L})\\.?", (_match, scale) => ` ${SCALES.get(scale!)!}`),
  rule(
    `${BEFORE_NUMERAL}(${NUMERAL}) ?([%‰])`,
    (_match, numeral, sign) => `${spokenNumeral(numeral!)} per ${sign === "%" ? "cento" : "mille"}`,
  ),
  rule(`${BEFORE_NUMERAL}(${NUMERAL}) ?${UNIT}${UNIT_PER}${AFTER_UNIT}`, measure),
  rule(
    `(?<![\\p{L}\\p{N}/'’])${UNIT}(?:\\/${UNIT}|(?<=[²³]))${AFTER_UNIT}`,
    (match, ...groups) => measured(groups.slice(0, 4), true) ?? match,
  ),
];

function money(sign: string, numeral: string, scale: string | undefined): string {
  const [one, many, cents] = CURRENCIES.get(sign)!;
  if (scale !== undefined) {
    const count = SCALES.get(scale) ?? scale;
    const said = spokenNumeral(numeral);
    if (count === "mila")
      return `${/^\d+$/.test(numeral) ? cardinal(`${numeral}000`) : `${said}mila`} ${many}`;
    return numeral === "1"
      ? `un ${count.replace(/i$/, count.startsWith("mili") ? "e" : "o")} di ${many}`
      : `${said} ${count} di ${many}`;
  }
  const { whole, decimals } = readNumeral(numeral);
  if (decimals !== null && decimals.length > 2) return `${spokenNumeral(numeral)} ${many}`;
  const isOne = /^0*1$/.test(whole);
  const value = isOne
    ? oneBefore(one) + one
    : `${cardinal(whole)} ${/[1-9]0{6,}$/.test(whole) ? "di " : ""}${many}`;
  const hundredths = (decimals ?? "").padEnd(2, "0");
  if (hundredths === "00") return value;
  const isOneCent = hundredths === "01";
  const said = isOneCent ? `un ${cents.replace(/i$/, "o")}` : cardinal(hundredths);
  if (/^0+$/.test(whole)) return isOneCent ? said : `${said} ${cents}`;
  return `${value} e ${said}`;
}

function measure(match: string, numeral: string, ...rest: string[]): string {
  const isOne = numeral === "1";
  const unit = measured(rest.slice(0, 4), !isOne);
  if (unit === null) return match;
  return isOne ? oneBefore(unit.split(" ")[0]!) + unit : `${spokenNumeral(numeral)} ${unit}`;
}

/** Returns the words for a unit, its power, and what it is counted per: "chilometri orari", "grammi al litro". */
function measured(
  [name, power, per, perPower]: readonly (string | undefined)[],
  isMany: boolean,
): string | null {
  const unit = UNITS.get(name!);
  const divisor = per === undefined ? undefined : UNITS.get(per);
  if (unit === undefined || (per !== undefined && divisor === undefined)) return null;
  const above = unit[isMany ? 1 : 0] + raised(unit[0], power, isMany);
  if (divisor === undefined) return above;
  if (per === "h" && /^(?:k?m|mi)$/.test(name!)) return `${above} ${isMany ? "orari" : "orario"}`;
  return `${above} ${perOne(divisor[0])}${raised(divisor[0], perPower, false)}`;
}

/** "al chilo", "all'ora", "alla settimana". */
function perOne(noun: string): string {
  const article = oneBefore(noun);
  if (article === "un'" || /^[aeiou]/.test(noun)) return `all'${noun}`;
  return `${isFeminine(noun) ? "alla" : article === "uno " ? "allo" : "al"} ${noun}`;
}

function raised(noun: string, power: string | undefined, isMany: boolean): string {
  if (power === undefined) return "";
  const word = `${power === "²" ? "quadrat" : "cub"}${isFeminine(noun) ? "a" : "o"}`;
  return ` ${isMany ? plural(word) : word}`;
}
