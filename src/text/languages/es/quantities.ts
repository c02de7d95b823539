import { alternatives } from "../../normalise/rule.ts";
import { NUMERAL, readNumeral } from "../numerals.ts";
import { BEFORE_NUMERAL, type Rule, rule, UNIT, UNIT_PER } from "../rule.ts";
import { cardinal, spokenNumeral } from "./numbers.ts";
import { CURRENCIES, isFeminine, plural, UNITS } from "./vocabulary.ts";

const SIGN = `(${alternatives(CURRENCIES.keys())})`;
const SCALE = "(?: ?(mil|millón|millones|M|k)(?![\\p{L}\\p{N}])(?: de)?)?";
const PER = "(?:\\/(\\p{L}{1,6}))?";
const AFTER_UNIT = "(?![\\p{L}\\p{N}/])(?:\\.(?= \\p{Ll}))?";

/** Money, percentages and measures. */
export const QUANTITIES: readonly Rule[] = [
  rule('(?<![^\\s(\\[«"“¿¡])[-−](?=[$€£¥]? ?\\d)', "menos "),
  rule("(?<=\\d(?: ?[cdkm]?m)?) ?[x×] ?(?=\\d)|(?<=\\p{L})/(?=\\d)", " por "),
  rule(`(?<![\\p{L}\\p{N}$])${SIGN} ?(${NUMERAL})${SCALE}${PER}`, (_match, sign, ...rest) =>
    money(sign!, ...rest),
  ),
  rule(
    `${BEFORE_NUMERAL}(${NUMERAL})${SCALE} ?${SIGN}(?!\\p{L})${PER}`,
    (_match, numeral, scale, sign, per) => money(sign!, numeral, scale, per),
  ),
  rule(
    `${BEFORE_NUMERAL}(${NUMERAL}) ?([%‰])`,
    (_match, numeral, sign) => `${spokenNumeral(numeral!)} por ${sign === "%" ? "ciento" : "mil"}`,
  ),
  rule(`${BEFORE_NUMERAL}(${NUMERAL}) ?${UNIT}${UNIT_PER}${AFTER_UNIT}(?=(.{0,2}))`, measure),
  rule(
    `(?<![\\p{L}\\p{N}/])${UNIT}(?:\\/${UNIT}|(?<=[²³]))${AFTER_UNIT}`,
    (match, ...groups) => measured(groups.slice(0, 4), true) ?? match,
  ),
];

function money(sign: string, numeral = "", scale?: string, per?: string): string {
  if (per !== undefined) return `${money(sign, numeral, scale)} por ${UNITS.get(per)?.[0] ?? per}`;
  const [one = "", cent = ""] = CURRENCIES.get(sign)!.replace("-", " ").split("/");
  const form = isFeminine(one) ? "feminine" : "masculine";
  if (scale !== undefined) {
    const isThousand = scale === "mil" || scale === "k";
    const count = scale === "M" ? (numeral === "1" ? "millón" : "millones") : isThousand ? "mil" : scale;
    const start = isThousand && numeral === "1" ? "" : `${spokenNumeral(numeral, "masculine")} `;
    return `${start}${count} ${isThousand ? "" : "de "}${plural(one)}`;
  }
  const { whole, decimals } = readNumeral(numeral);
  if (decimals !== null && decimals.length > 2) return `${spokenNumeral(numeral)} ${plural(one)}`;
  const value = `${cardinal(whole, form)} ${/0{6}$/.test(whole) ? "de " : ""}${/^0*1$/.test(whole) ? one : plural(one)}`;
  const cents = (decimals ?? "").padEnd(2, "0");
  if (cents === "00") return value;
  const said = cardinal(cents, "masculine");
  const coin = cents === "01" ? cent.replace(/s$/, "") : plural(cent);
  if (/^0+$/.test(whole)) return `${said} ${coin}`;
  return `${value} con ${said}${one === "euro" && cents !== "01" ? "" : ` ${coin}`}`;
}

function measure(match: string, numeral: string, ...rest: string[]): string {
  const unit = measured(rest.slice(0, 4), numeral !== "1");
  // "En 2023 ha subido": a verb unless a mark or "de" follows.
  if (unit === null || (rest[0] === "ha" && /^ (?:[^d]|d[^e])/.test(rest[4] ?? ""))) return match;
  const form = isFeminine(UNITS.get(rest[0]!)![0]) ? "feminine" : "masculine";
  return `${spokenNumeral(numeral, form)} ${unit}`;
}

/** Returns the words for a unit and what it is counted per. */
function measured(
  [name, power, per, perPower]: readonly (string | undefined)[],
  isMany: boolean,
): string | null {
  const unit = UNITS.get(name!);
  const divisor = per === undefined ? undefined : UNITS.get(per);
  if (unit === undefined || (per !== undefined && divisor === undefined)) return null;
  const above = unit[isMany ? 1 : 0] + raised(unit[0], power, isMany);
  const below = divisor === undefined ? "" : ` por ${divisor[0]}${raised(divisor[0], perPower, false)}`;
  return above + below;
}

function raised(noun: string, power: string | undefined, isMany: boolean): string {
  if (power === undefined) return "";
  return ` ${power === "²" ? "cuadrad" : "cúbic"}${isFeminine(noun) ? "a" : "o"}${isMany ? "s" : ""}`;
}
