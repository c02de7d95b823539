import { type Rule, rule, wordRule } from "../rule.ts";
import { cardinal } from "./numbers.ts";
import { MONTHS } from "./vocabulary.ts";

const SHORT_MONTHS = "(ene|feb|mar|abr|may|jun|jul|ago|sept?|oct|nov|dic)";
const FULL_MONTHS = MONTHS.join("|");

/** Dates and times of day. */
export const DATES: readonly Rule[] = [
  wordRule("(\\d{1,2})([/.-])(\\d{1,2})\\2(\\d{4}|\\d{2})(?![/.,-]\\d)", (match, day, sign, month, year) =>
    sign === "." && year!.length === 2 ? match : date(match, day!, month!, year),
  ),
  wordRule("(\\d{4})-(\\d{2})-(\\d{2})", (match, year, month, day) => date(match, day!, month!, year)),
  rule("(?<=(?<!\\p{L})(?:[Ee]l|[Dd]el|[Aa]l|[Dd]ía) )(\\d{1,2})/(\\d{1,2})(?![\\d/])", (match, day, month) =>
    date(match, day!, month!),
  ),
  wordRule(`(\\d{1,2})(?: de)? ${SHORT_MONTHS}(?:\\.|(?= (?:de )?\\d{4}))(?: (?:de )?(\\d{4}))?`, shortMonth),
  wordRule(`(?<!(?:^| )de )0?1(?= de (?:${FULL_MONTHS}))`, "primero"),
  wordRule(
    "([01]?\\d|2[0-3])(?::([0-5]\\d))? ?([ap])\\. ?m(?:\\.(?! *$))?|([01]?\\d|2[0-3])(?::([0-5]\\d))? ?([AaPp])[Mm]",
    (_match, hour, minute, half, hour2, minute2, half2) =>
      `${clock(hour ?? hour2!, minute ?? minute2)} ${/^a/i.test(half ?? half2!) ? "a" : "pe"} eme`,
  ),
  wordRule(
    "([01]?\\d|2[0-3]):([0-5]\\d)(?::([0-5]\\d))?(?: ?(?:hs?|hrs)(?!\\p{L})(?:\\.(?= ?\\p{Ll}))?)?(?!:\\d)",
    (_match, hour, minute, second) =>
      clock(hour!, minute) + (second === undefined ? "" : ` y ${cardinal(second, "masculine")} segundos`),
  ),
  wordRule("([01]?\\d|2[0-3])\\.([0-5]\\d) ?hs?", (_match, hour, minute) => clock(hour!, minute)),
  rule("(?<=(?<!\\p{L})[Ll]as? )(\\d{1,2}) ?h(?![\\p{L}\\p{N}])", (_match, hour) => clock(hour!, undefined)),
];

function date(match: string, day: string, month: string, year?: string): string {
  const name = MONTHS[Number(month) - 1];
  if (name === undefined || Number(day) < 1 || Number(day) > 31) return match;
  const said = Number(day) === 1 ? "primero" : cardinal(day);
  if (year === undefined) return `${said} de ${name}`;
  const century = year.length > 2 ? "" : Number(year) < 50 ? "20" : "19";
  return `${said} de ${name} de ${cardinal(century + year)}`;
}

function shortMonth(match: string, day: string, short: string, year?: string): string {
  const month = MONTHS.findIndex((name) => name.startsWith(short.slice(0, 3)));
  return date(match, day, String(month + 1), year);
}

function clock(hour: string, minute: string | undefined): string {
  const said = cardinal(hour, "feminine");
  return minute === undefined || minute === "00" ? said : `${said} y ${cardinal(minute)}`;
}
