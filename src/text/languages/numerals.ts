import { romanValue as valueOfRoman } from "../normalise/number-words.ts";

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

const WELL_FORMED = /^M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/;

/** Returns the value of a well-formed Roman numeral, or 0. */
export function romanValue(numeral: string): number {
  return WELL_FORMED.test(numeral) ? valueOfRoman(numeral) : 0;
}

/**
 * Makes the reader of a language's numerals.
 *
 * @param digitNames from zero on
 * @param comma the word for a comma before decimals
 */
export function createNumeralReader<Form>(
  digitNames: readonly string[],
  comma: string,
  cardinal: (digits: string, form?: Form) => string,
) {
  const spelledDigits = (digits: string) =>
    Array.from(digits, (digit) => digitNames[Number(digit)]).join(" ");

  /** Writes the digits after a comma: up to two as one number after their zeros, more one by one. */
  function decimalWords(digits: string): string {
    if (digits.length > 2) return spelledDigits(digits);
    const rest = digits.replace(/^0+/, "");
    const zeros = `${digitNames[0]} `.repeat(digits.length - rest.length);
    return `${zeros}${rest === "" ? "" : cardinal(rest)}`.trim();
  }

  /** Writes a numeral in words. Numbers that begin with 0 are codes: "007". */
  function spokenNumeral(text: string, form?: Form): string {
    const { whole, decimals, point } = readNumeral(text);
    if (decimals !== null)
      return `${cardinal(whole)} ${point === "," ? comma : "punto"} ${decimalWords(decimals)}`;
    return /^0\d/.test(whole) ? spelledDigits(whole) : cardinal(whole, form);
  }

  return { spelledDigits, spokenNumeral };
}
