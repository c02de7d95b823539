import { createNumeralReader } from "../numerals.ts";

const UNITS = (
  "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete " +
  "dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete " +
  "veintiocho veintinueve"
).split(" ");
const TENS = "_ _ _ treinta cuarenta cincuenta sesenta setenta ochenta noventa".split(" ");
const HUNDREDS =
  "_ ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos".split(
    " ",
  );
/** Powers of a million: "millón" is 10⁶, "billón" 10¹² (the long scale). */
const POWERS = ["", "mill", "bill", "trill"];
const ORDINALS =
  "_ primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo undécimo duodécimo".split(" ");
const ORDINAL_TENS =
  "_ décimo vigésimo trigésimo cuadragésimo quincuagésimo sexagésimo septuagésimo octogésimo";
const ORDINALS_BY_TEN = `${ORDINAL_TENS} nonagésimo`.split(" ");
const ORDINAL_HUNDREDS =
  "_ cent ducent tricent cuadringent quingent sexcent septingent octingent noningent".split(" ");
const PARTS = "_ _ medio tercio cuarto quinto sexto séptimo octavo noveno décimo".split(" ");

/** How a number ends: "uno", "un libro", "una casa"; the hundreds agree too. */
export type Form = "alone" | "masculine" | "feminine";

/** Writes a whole number in words. More than 24 digits are read one by one. */
export function cardinal(digits: string, form: Form = "alone"): string {
  const value = digits.replace(/^0+(?=\d)/, "");
  if (value.length > POWERS.length * 6) return spelledDigits(digits);
  const words: string[] = [];
  const groups = Math.ceil(value.length / 6);
  for (let power = groups - 1; power >= 0; power--) {
    const end = value.length - power * 6;
    const part = Number(value.slice(Math.max(0, end - 6), end));
    if (power === 0 && (part > 0 || groups === 1)) words.push(belowMillion(part, form));
    if (power > 0 && part > 0)
      words.push(belowMillion(part, "masculine"), POWERS[power]! + (part === 1 ? "ón" : "ones"));
  }
  return words.join(" ");
}

function belowMillion(n: number, form: Form): string {
  const [high, low] = [Math.floor(n / 1000), n % 1000];
  if (high === 0) return belowThousand(low, form);
  const start = high === 1 ? "mil" : `${belowThousand(high, form === "alone" ? "masculine" : form)} mil`;
  return low === 0 ? start : `${start} ${belowThousand(low, form)}`;
}

function belowThousand(n: number, form: Form): string {
  if (n === 100) return "cien";
  const hundreds = n < 100 ? "" : HUNDREDS[Math.floor(n / 100)]!;
  const agreed = form === "feminine" ? hundreds.replace(/os$/, "as") : hundreds;
  if (n >= 100 && n % 100 === 0) return agreed;
  return `${agreed} ${belowHundred(n % 100, form)}`.trim();
}

function belowHundred(n: number, form: Form): string {
  if (n === 21 && form === "masculine") return "veintiún";
  const one = form === "alone" ? "uno" : form === "masculine" ? "un" : "una";
  if (n < 30) return UNITS[n]!.replace(/uno$/, one);
  const tens = TENS[Math.floor(n / 10)]!;
  return n % 10 === 0 ? tens : `${tens} y ${belowHundred(n % 10, form)}`;
}

/** Writes an ordinal up to 999; larger ones are said as cardinals. `isBeforeNoun` shortens "primero" and "tercero". */
export function ordinal(n: number, isFeminine = false, isBeforeNoun = false): string {
  if (n < 1 || n > 999) return cardinal(String(n));
  const [hundreds, rest] = [Math.floor(n / 100), n % 100];
  const words = [
    hundreds === 0 ? "" : `${ORDINAL_HUNDREDS[hundreds]}ésimo`,
    rest <= 12 ? "" : ORDINALS_BY_TEN[Math.floor(rest / 10)]!,
    rest === 0 ? "" : rest <= 12 ? ORDINALS[rest]! : rest % 10 === 0 ? "" : ORDINALS[rest % 10]!,
  ];
  const said = words.filter((word) => word !== "").join(" ");
  if (isFeminine) return said.replace(/o(?= |$)/g, "a");
  return isBeforeNoun ? said.replace(/(prim|terc)ero$/, "$1er") : said;
}

/** Writes a fraction below one with a denominator up to ten, such as "tres cuartos"; else `null`. */
export function fraction(above: number, below: number): string | null {
  const part = PARTS[below];
  if (above < 1 || above >= below || part === undefined) return null;
  return above === 1 ? `un ${part}` : `${cardinal(String(above))} ${part}s`;
}

export const { spelledDigits, spokenNumeral } = createNumeralReader(UNITS, "coma", cardinal);
