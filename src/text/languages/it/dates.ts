import { type Rule, rule, wordRule } from "../rule.ts";
import { cardinal, ordinal } from "./numbers.ts";
import { MONTHS } from "./vocabulary.ts";

const SHORT_MONTHS = "(gen|feb|mar|apr|mag|giu|lug|ago|set|sett|ott|nov|dic)";
const FULL_MONTHS = MONTHS.join("|");
const HOUR = "([01]?\\d|2[0-4])";

/** Dates, years of a century ("gli anni '80") and times of day. */
export const DATES: readonly Rule[] = [
  wordRule("(\\d{1,2})([/.-])(\\d{1,2})\\2(\\d{4}|\\d{2})(?![/.,-]\\d)", (match, day, sign, month, year) =>
    sign === "." && year!.length === 2 ? match : date(match, day!, month!, year),
  ),
  wordRule("(\\d{4})-(\\d{2})-(\\d{2})", (match, year, month, day) => date(match, day!, month!, year)),
  rule(
    "(?<=(?<!\\p{L})(?:[Ii]l|[Dd]el|[Dd]al|[Aa]l|[Nn]el|giorno) |[Ll]'|all'|dell'|dall')(\\d{1,2})/(\\d{1,2})(?![\\d/])",
    (match, day, month) => date(match, day!, month!),
  ),
  wordRule(`(\\d{1,2}) ${SHORT_MONTHS}(?:\\.|(?= \\d{4}))(?: (\\d{4}))?`, (match, day, short, year) => {
    const month = MONTHS.findIndex((name) => name.startsWith(short!.slice(0, 3)));
    return date(match, day!, String(month + 1), year);
  }),
  rule(`(?<![\\p{L}\\d.,/])0?1[º°]?(?= (?:${FULL_MONTHS})(?!\\p{L}))`, "primo"),
  rule("(?<=(?<!\\p{L})(?:[Aa]l|[Dd]al|[Nn]el|[Dd]el) )(\\d{1,3})['’′](?![\\p{L}\\d])", (_match, minute) =>
    ordinal(Number(minute)),
  ),
  rule("(?<![\\p{L}\\d])['’](\\d{2,3})(?![\\d'’])", (_match, year) => cardinal(year!)),
  rule(
    `(?<![\\p{L}\\d.,:])([Aa]lle|[Dd]alle|[Ll]e|[Dd]elle) (?:ore )?0?1(?:[:.]([0-5]\\d))(?![\\d:]|[.,]\\d)`,
    // "alle 1:20": "all'una e venti".
    (_match, preposition, minute) => `${preposition!.replace(/e$/, "")}'${clock("1", minute!)}`,
  ),
  rule(
    `(?<![\\p{L}\\d.,:])${HOUR}:([0-5]\\d)(?::([0-5]\\d))?(?![\\d:]|[.,]\\d)`,
    (_match, hour, minute, second) =>
      clock(hour!, minute!) + (second === undefined ? "" : ` e ${cardinal(second)} secondi`),
  ),
  rule(
    `(?<=(?<!\\p{L})(?:[Aa]lle|[Dd]alle|[Oo]re|[Dd]elle) )${HOUR}\\.([0-5]\\d)(?![\\d:]|[.,]\\d)`,
    (_match, hour, minute) => clock(hour!, minute!),
  ),
];

function date(match: string, day: string, month: string, year?: string): string {
  const name = MONTHS[Number(month) - 1];
  if (name === undefined || Number(day) < 1 || Number(day) > 31) return match;
  const said = `${Number(day) === 1 ? "primo" : cardinal(day)} ${name}`;
  if (year === undefined) return said;
  const century = year.length > 2 ? "" : Number(year) < 50 ? "20" : "19";
  return `${said} ${cardinal(century + year)}`;
}

function clock(hour: string, minute: string): string {
  const said = Number(hour) === 1 ? "una" : Number(hour) === 0 ? "zero" : cardinal(hour);
  if (minute === "00") return said;
  return `${said} e ${minute === "15" && Number(hour) <= 12 ? "un quarto" : cardinal(minute)}`;
}
