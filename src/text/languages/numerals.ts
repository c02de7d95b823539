/** A numeral as written: its whole part without separators, its decimals, and the sign between them. */
export interface Numeral {
  readonly whole: string;
  readonly decimals: string | null;
  readonly point: "," | ".";
}

/** The source of a pattern of numerals with separators of thousands and decimals. */
export const NUMERAL =
  "(?:[1-9]\\d{0,2}(?:\\.\\d{3}){1,7}(?:,\\d{1,20})?|[1-9]\\d{0,2}(?:,\\d{3}){1,7}(?:\\.\\d{1,20})?|" +
  "\\d{1,40}(?:[.,]\\d{1,20})?)(?!\\d|[.,]\\d)";

/** Parses a numeral: a separator before exactly three digits groups, except after a single 0. */
export function readNumeral(text: string): Numeral {
  const grouped = /^[1-9]\d{0,2}(?:(?:\.\d{3})+(?:,(\d+))?|(?:,\d{3})+(?:\.(\d+))?)$/.exec(text);
  const [, comma, point = comma] = grouped ?? /^\d+(?:,(\d+)|\.(\d+))?$/.exec(text) ?? [];
  const decimals = point ?? null;
  const whole = (decimals === null ? text : text.slice(0, -decimals.length)).replace(/\D/g, "");
  return { whole, decimals, point: comma === undefined ? "." : "," };
}

const ROMAN = { I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 } as const;
const WELL_FORMED = /^M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/;

/** Returns the value of a well-formed Roman numeral, or 0. */
export function romanValue(numeral: string): number {
  if (!WELL_FORMED.test(numeral)) return 0;
  const values = Array.from(numeral, (letter) => ROMAN[letter as keyof typeof ROMAN]);
  return values.reduce<number>((sum, value, at) => sum + ((values[at + 1] ?? 0) > value ? -value : value), 0);
}
