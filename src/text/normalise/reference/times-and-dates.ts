import { DIGIT, SPACE, WORD } from "../../characters.ts";
import type { NormaliserTables } from "../../tables/tables.ts";
import { cardinal, ordinal, parseInteger } from "../number-words.ts";
import { alternatives, placeOf, type Rewriting, rewriting } from "./rewrite-rule.ts";

const D = `[${DIGIT}]`;
const S = `[${SPACE}]`;
const AT_WORD = `(?<![${WORD}])`;
const NO_WORD = `(?![${WORD}])`;

/** "7:05 p.m." and dates that are all digits. They come before money. */
export function timesAndDigitDates(tables: NormaliserTables): Rewriting[] {
  const months = [...tables.months.values()];
  const monthDay = (month: number, day: number): string | undefined => {
    const name = months[month - 1];
    return name === undefined || day < 1 || day > 31 ? undefined : `${name} ${ordinal(day)}`;
  };
  return [
    rewriting(
      `${AT_WORD}(${D}{1,2}):(${D}{2})(?::(${D}{2}))?(?:${S}?([AaPp])\\.?[Mm]\\.?(?![A-Za-z]))?(?!${D})`,
      (match, hour = "", minute = "", second, half, ...rest) => {
        const { at, text } = placeOf(rest);
        const stop = text.startsWith(".", at + match.length) ? "" : ".";
        return timeWords(match, number(hour), number(minute), second, half, stop);
      },
      { needsDigit: true },
    ),
    rewriting(
      `${AT_WORD}(${D}{4})-(${D}{2})-(${D}{2})${NO_WORD}`,
      (match, year = "", month = "", day = "") => {
        const date = monthDay(number(month), number(day));
        return date === undefined ? match : `${date}, ${number(year)}`;
      },
      { needsDigit: true },
    ),
    rewriting(
      `${AT_WORD}(${D}{1,2})/(${D}{1,2})/(${D}{4}|${D}{2})${NO_WORD}`,
      (match, first = "", second = "", year = "") => {
        const [a, b] = [number(first), number(second)];
        const date = a <= 12 ? monthDay(a, b) : monthDay(b, a);
        return date === undefined ? match : `${date}, ${fullYear(year)}`;
      },
      { needsDigit: true },
    ),
  ];
}

/** "Sep. 3rd", "3 March": dates with the month in letters. They come after units. */
export function monthDates(tables: NormaliserTables): Rewriting[] {
  const full = [...tables.months.values()];
  const short = [...tables.months.keys()].map((month) => month.charAt(0).toUpperCase() + month.slice(1));
  const month = alternatives([...full, ...short, "Sept"]);
  const monthOf = (name: string): string => tables.months.get(name.slice(0, 3).toLowerCase()) ?? name;
  const isDay = (digits: string): boolean => number(digits) >= 1 && number(digits) <= 31;
  return [
    rewriting(
      `${AT_WORD}(${month})\\.? (${D}{1,2})(?:st|nd|rd|th)?(?![${WORD}:%])(,? ${D}{4}${NO_WORD})?`,
      (match, name = "", day = "", year = "") =>
        isDay(day) ? `${monthOf(name)} ${ordinal(number(day))}${year}` : match,
      { needsDigit: true },
    ),
    rewriting(
      `${AT_WORD}(the )?(${D}{1,2}) (?:of )?(${month})${NO_WORD}\\.?`,
      (match, _the, day = "", name = "") =>
        isDay(day) ? `the ${ordinal(number(day))} of ${monthOf(name)}` : match,
      { needsDigit: true },
    ),
  ];
}

function timeWords(
  match: string,
  hour: number,
  minute: number,
  second: string | undefined,
  half: string | undefined,
  stop: string,
): string {
  const seconds = second === undefined ? undefined : number(second);
  if (hour > 24 || minute > 59 || (seconds ?? 0) > 59) return match;
  let words: string = cardinal(hour);
  if (minute === 0) words += half === undefined && seconds === undefined ? " o'clock" : "";
  else words += minute < 10 ? ` oh ${cardinal(minute)}` : ` ${cardinal(minute)}`;
  if (seconds !== undefined) words += ` and ${cardinal(seconds)} second${seconds === 1 ? "" : "s"}`;
  if (half !== undefined) words += ` ${half.toUpperCase()}.M${stop}`;
  return words;
}

function fullYear(digits: string): number {
  const year = number(digits);
  if (Array.from(digits).length > 2) return year;
  return year > 30 ? 1900 + year : 2000 + year;
}

function number(digits: string): number {
  return Number(parseInteger(digits));
}
