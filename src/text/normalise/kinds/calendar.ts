const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);

/** Months as they are written short, with a stop or without; May is not. */
export const SHORT_MONTHS: readonly string[] = "Jan Feb Mar Apr Jun Jul Aug Sept Sep Oct Nov Dec".split(" ");

/** A month in full or short, as the source of a pattern; "Mar." may have a stop. */
export const MONTH = `(?:${MONTHS.join("|")}|(?:${SHORT_MONTHS.join("|")})\\b\\.?)`;

/** The name of month 1 to 12. */
export function monthName(month: number): string | undefined {
  return MONTHS[month - 1];
}

/** "Sept." → "September". */
export function monthOf(written: string): string {
  const start = written.slice(0, 3);
  return MONTHS.find((month) => month.startsWith(start)) ?? written;
}

export function isDay(day: number): boolean {
  return day >= 1 && day <= 31;
}

const DAYS: ReadonlyMap<string, string> = new Map([
  ["Mon", "Monday"],
  ["Tue", "Tuesday"],
  ["Tues", "Tuesday"],
  ["Wed", "Wednesday"],
  ["Thu", "Thursday"],
  ["Thur", "Thursday"],
  ["Thurs", "Thursday"],
  ["Fri", "Friday"],
  ["Sat", "Saturday"],
  ["Sun", "Sunday"],
]);

/** Days of the week as they are written short. */
export const SHORT_DAYS: readonly string[] = [...DAYS.keys()];

/** A day of the week in full or short, as the source of a pattern. */
export const DAY = `(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|(?:${SHORT_DAYS.join("|")})\\b)`;

/** "Tues" → "Tuesday"; undefined for anything that is not short for a day. */
export function dayOf(written: string): string | undefined {
  return DAYS.get(written);
}
