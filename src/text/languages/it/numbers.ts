import { createNumeralReader } from "../numerals.ts";

const UNITS = (
  "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici " +
  "diciassette diciotto diciannove"
).split(" ");
const TENS = "_ _ venti trenta quaranta cinquanta sessanta settanta ottanta novanta".split(" ");
const ORDINALS = "_ primo secondo terzo quarto quinto sesto settimo ottavo nono decimo".split(" ");
const PARTS = "_ _ mezzo terzo quarto quinto sesto settimo ottavo nono decimo".split(" ");
/** Powers of a thousand from a million on (the long scale). */
const POWERS = ["milion", "miliard", "bilion", "biliard", "trilion"];
const MAX_DIGITS = 6 + 3 * POWERS.length;

/** Writes a whole number in words. Longer ones than trillions are read digit by digit. */
export function cardinal(digits: string): string {
  const value = digits.replace(/^0+(?=\d)/, "");
  if (value.length > MAX_DIGITS) return spelledDigits(digits);
  const words: string[] = [];
  for (let power = POWERS.length - 1; power >= 0; power--) {
    const end = value.length - 6 - 3 * power;
    const count = end > 0 ? Number(value.slice(Math.max(0, end - 3), end)) : 0;
    const name = POWERS[power]!;
    if (count === 1) words.push(`un ${name}${name.endsWith("d") ? "o" : "e"}`);
    else if (count > 0) words.push(belowThousand(count), `${name}i`);
  }
  const rest = Number(value.slice(-6));
  if (rest > 0 || words.length === 0) words.push(belowMillion(rest));
  return words.join(" ");
}

function belowMillion(n: number): string {
  const [high, low] = [Math.floor(n / 1000), n % 1000];
  if (high === 0) return belowThousand(low);
  const start = high === 1 ? "mille" : `${belowThousand(high).replace(/uno$/, "un").replace(/é$/, "e")}mila`;
  return low === 0 ? start : start + belowThousand(low, true);
}

/** Writes one word: a ten loses its vowel before "uno" and "otto", and a final "tre" has an accent. */
function belowThousand(n: number, isCompound = n > 20): string {
  const [hundreds, rest] = [Math.floor(n / 100), n % 100];
  const start = hundreds === 0 ? "" : `${hundreds === 1 ? "" : UNITS[hundreds]}cento`;
  if (rest === 0 && start !== "") return start;
  const one = rest < 20 ? rest : rest % 10;
  const said = one === 3 && (isCompound || rest > 20) ? "tré" : UNITS[one]!;
  if (rest < 20) return start + said;
  const ten = TENS[Math.floor(rest / 10)]!;
  if (one === 0) return start + ten;
  return start + (one === 1 || one === 8 ? ten.slice(0, -1) : ten) + said;
}

/** Writes an ordinal below a million: "terzo", "ventunesima". */
export function ordinal(n: number, isFeminine = false): string {
  if (n < 1 || n >= 1_000_000) return cardinal(String(n));
  const said = ORDINALS[n] ?? `${ordinalStem(cardinal(String(n)), n)}esimo`;
  return isFeminine ? said.replace(/o$/, "a") : said;
}

function ordinalStem(said: string, n: number): string {
  if (n % 10 === 3 && n % 100 !== 13) return said.replace(/é$/, "e");
  if (n % 10 === 6 && n % 100 !== 16) return said;
  return said.replace(/mila$/, "mill").replace(/[aeio]$/, "");
}

/** Writes a fraction below one with a denominator up to ten, such as "tre quarti"; else `null`. */
export function fraction(above: number, below: number): string | null {
  const part = PARTS[below];
  if (above < 1 || above >= below || part === undefined) return null;
  return above === 1 ? `un ${part}` : `${cardinal(String(above))} ${part.replace(/o$/, "i")}`;
}

export const { spelledDigits, spokenNumeral } = createNumeralReader(UNITS, "virgola", cardinal);
