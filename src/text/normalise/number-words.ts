import { digitValue, wordMap } from "../characters.ts";

const ONES =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = " ten twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const SCALES =
  " thousand million billion trillion quadrillion quintillion sextillion septillion octillion nonillion decillion".split(
    " ",
  );
const ORDINALS = wordMap(
  "one first,two second,three third,five fifth,eight eighth,nine ninth,twelve twelfth",
);

const ROMAN_VALUES: ReadonlyMap<string, number> = new Map(
  Object.entries({ I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 }),
);

/** Longer numbers have no scale word and are read digit by digit. */
const MAX_NAMED_DIGITS = SCALES.length * 3;

/** Parses decimal digits of any script. No digits are 0. */
export function parseInteger(digits: string): bigint {
  let ascii = "";
  for (const character of digits) {
    const value = digitValue(character);
    if (value >= 0) ascii += String(value);
  }
  return BigInt(ascii === "" ? "0" : ascii);
}

/** 1001 → "one thousand and one"; beyond {@link MAX_NAMED_DIGITS} digit by digit. Not negative. */
export function cardinal(value: bigint | number): string {
  const digits = String(value);
  if (digits.length > MAX_NAMED_DIGITS) return digitNames(digits);
  if (digits.length <= 3) return hundreds(Number(digits));
  const groups: string[] = [];
  let joined = "";
  for (let end = digits.length, scale = 0; end > 0; end -= 3, scale++) {
    const group = Number(digits.slice(Math.max(0, end - 3), end));
    if (group === 0) continue;
    const words = scale === 0 ? hundreds(group) : `${hundreds(group)} ${SCALES[scale]}`;
    if (scale === 0 && group < 100) joined = ` and ${words}`;
    else groups.unshift(words);
  }
  return groups.join(", ") + joined;
}

/** 101 → "one hundred and first", 0 → "zeroth". */
export function ordinal(value: bigint | number): string {
  const words = cardinal(value);
  const at = Math.max(words.lastIndexOf(" "), words.lastIndexOf("-")) + 1;
  const last = words.slice(at);
  const named = ORDINALS.get(last) ?? (last.endsWith("y") ? `${last.slice(0, -1)}ieth` : `${last}th`);
  return words.slice(0, at) + named;
}

/** 1905 → "nineteen oh-five", 2005 → "two thousand and five". Up to 9999. */
export function yearWords(year: number): string {
  const century = Math.floor(year / 100);
  const rest = year % 100;
  if (century === 0 || (century % 10 === 0 && rest < 10) || century >= 100) return cardinal(year);
  const tail = rest === 0 ? "hundred" : rest < 10 ? `oh-${cardinal(rest)}` : cardinal(rest);
  return `${cardinal(century)} ${tail}`;
}

/** "2.50" → "two point five"; "3.00" → "three". */
export function decimalWords(text: string): string {
  const [whole = "", fraction = ""] = text.split(".");
  const digits = withoutTrailingZeros(fraction);
  const words = cardinal(parseInteger(whole));
  return digits === "" ? words : `${words} point ${digitNames(digits)}`;
}

/** "307" → "three zero seven". */
export function digitNames(digits: string): string {
  return Array.from(digits, (digit) => ONES[digitValue(digit)] ?? "").join(" ");
}

/** "XIV" → 14. Other letters count as 0. */
export function romanValue(numeral: string): number {
  let value = 0;
  for (let i = 0; i < numeral.length; i++) {
    const here = ROMAN_VALUES.get(numeral.charAt(i)) ?? 0;
    value += here < (ROMAN_VALUES.get(numeral.charAt(i + 1)) ?? 0) ? -here : here;
  }
  return value;
}

function withoutTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}

function hundreds(value: number): string {
  const rest = value % 100;
  if (value < 100) return tensAndOnes(rest);
  const words = `${ONES[Math.floor(value / 100)]} hundred`;
  return rest === 0 ? words : `${words} and ${tensAndOnes(rest)}`;
}

function tensAndOnes(value: number): string {
  if (value < 20) return ONES[value] ?? "";
  const tens = TENS[Math.floor(value / 10)] ?? "";
  return value % 10 === 0 ? tens : `${tens}-${ONES[value % 10]}`;
}

/** Pattern source of an American number: thousands in threes, an optional fraction. */
export const NUMBER = "(?:\\d{1,3}(?:,\\d{3}){1,6}|\\d{1,15})(?:\\.\\d{1,15})?|\\.\\d{1,15}";

/** "1,248" → "one thousand two hundred forty eight": without "and", commas and hyphens. */
export function cardinalWords(digits: string): string {
  return plain(cardinal(parseInteger(digits)));
}

/** "102" → "one hundred second". */
export function ordinalWords(digits: string): string {
  return plain(ordinal(parseInteger(digits)));
}

/** "2" → "squared", "4" → "to the fourth", "-2" → "to the minus two". A base of ten is not squared. */
export function powerWords(exponent: string, base = ""): string {
  const digits = exponent.replace(/^[-−⁻]/u, "");
  if (digits !== exponent) return `to the minus ${cardinalWords(digits)}`;
  if (base === "10" || !/^[23]$/u.test(digits)) return `to the ${ordinalWords(digits)}`;
  return digits === "2" ? "squared" : "cubed";
}

/** "0427" → "zero four two seven", or with "oh". */
export function digitWords(digits: string, zero: "zero" | "oh" = "zero"): string {
  const words = digitNames(digits.replace(/\D/gu, ""));
  return zero === "zero" ? words : words.replaceAll("zero", "oh");
}

/** "4.0" → "four point zero". Other fractions stay as digits for the lexicon, which reduces "point". */
export function numberWords(number: string): string {
  const [whole = "", fraction] = number.replaceAll(",", "").split(".");
  if (fraction === undefined) return cardinalWords(whole);
  if (!fraction.endsWith("0")) return `${whole}.${fraction}`;
  return `${whole === "" ? "" : cardinalWords(whole)} point ${digitWords(fraction)}`.trim();
}

/**
 * Reads a number used as a name (room, road, flight): "406" → "four oh six", "1186" → "eleven eighty six", "500" →
 * "five hundred". More than four digits are read one by one.
 */
export function nameWords(digits: string): string {
  if (digits.startsWith("0") && digits.length > 1) return digitWords(digits, "oh");
  if (digits.length <= 2) return cardinalWords(digits);
  if (digits.length > 4) return digitWords(digits);
  const split = digits.length - 2;
  const [first, rest] = [digits.slice(0, split), digits.slice(split)];
  if (rest === "00")
    return first.endsWith("0") && split === 2 ? cardinalWords(digits) : `${cardinalWords(first)} hundred`;
  return `${cardinalWords(first)} ${pairWords(rest)}`;
}

/** "05" → "oh five", "45" → "forty five". */
export function pairWords(digits: string): string {
  return digits.startsWith("0") ? digitWords(digits, "oh") : cardinalWords(digits);
}

function plain(words: string): string {
  return words.replaceAll(" and ", " ").replaceAll(",", "").replaceAll("-", " ");
}
