/**
 * Parses a number in figures or words: `1,250`, `3.5`, `1/2`, "twenty-five", "a hundred and five", "three point one
 * four", "one and a half", "a dozen", "minus five". Returns `null` unless the whole text is one.
 */
export function numberIn(text: string): number | null {
  const plain = text.trim().toLowerCase().replaceAll("-", " ").replaceAll(/\s+/g, " ");
  if (/^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$|^-?\d+(?:\.\d+)?$|^\.\d+$/.test(text.trim()))
    return finite(Number(text.trim().replaceAll(",", "")));
  const below = /^(?:minus|negative) (.+)$/.exec(plain)?.[1];
  if (below !== undefined) {
    const value = /^(?:minus|negative)\b/.test(below) ? null : numberIn(below);
    return value === null ? null : -value;
  }
  const fraction = /^(\d+) ?\/ ?(\d+)$/.exec(plain);
  if (fraction) return finite(Number(fraction[1]) / Number(fraction[2]));
  const mixed =
    /^(?:(.+) and )?(?:(\w+) )?(half|third|quarter|fifth|sixth|seventh|eighth|ninth|tenth)(s?)$/.exec(plain);
  if (mixed) {
    const [, before, times = "a", part = "", plural] = mixed;
    const whole = before === undefined ? 0 : numberIn(before);
    const count = times === "a" || times === "an" ? 1 : numberIn(times);
    // "two thirds", but not the ordinal "twenty-third".
    return whole === null || count === null || (count === 1) === (plural === "s")
      ? null
      : whole + count * PARTS[part]!;
  }
  const scaled = /^(\d+(?:\.\d+)?) (hundred|thousand|million|billion)$/.exec(plain);
  if (scaled) return Number(scaled[1]) * (SCALES[scaled[2] ?? ""] ?? 1);
  const [whole = "", decimals, ...others] = plain.split(" point ");
  // Several points: perhaps a version number.
  if (others.length > 0) return null;
  const count = wholeNumber(whole.split(" "));
  if (count === null || decimals === undefined) return count;
  const digits = decimals.split(" ").map((word) => DIGITS.indexOf(word));
  return digits.some((digit) => digit < 0) ? null : Number(`${count}.${digits.join("")}`);
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

const DIGITS = "zero one two three four five six seven eight nine".split(" ");
const SMALL =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const SCALES: Readonly<Record<string, number>> = { hundred: 1e2, thousand: 1e3, million: 1e6, billion: 1e9 };
/** Nouns that "a" counts: "a hundred". */
const COUNTED_NOUNS: ReadonlySet<string> = new Set([...Object.keys(SCALES), "dozen"]);
const PARTS: Readonly<Record<string, number>> = {
  ...{ half: 1 / 2, third: 1 / 3, quarter: 1 / 4, fifth: 1 / 5, sixth: 1 / 6, seventh: 1 / 7 },
  ...{ eighth: 1 / 8, ninth: 1 / 9, tenth: 0.1 },
};

/** Parses below 10^12; scales descend. */
function wholeNumber(words: readonly string[]): number | null {
  let total = 0;
  let group = 0;
  let lastScale = Number.POSITIVE_INFINITY;
  /** What may still be added to the group: hundreds, tens, units. */
  let room = 1000;
  let isEmpty = true;
  for (const [n, word] of words.entries()) {
    const scale = SCALES[word];
    const units = SMALL.indexOf(word);
    const tens = TENS.indexOf(word);
    if (word === "and" && n > 0 && n < words.length - 1 && !isEmpty) continue;
    if (word === "a" && n === 0 && COUNTED_NOUNS.has(words[1] ?? "")) group = 1;
    else if (word === "dozen" && n === words.length - 1) return (isEmpty && group === 0 ? 1 : group) * 12;
    else if (word === "hundred" && group > 0 && group < 20) {
      group *= 100;
      room = 100;
    } else if (scale !== undefined && scale > 100 && group > 0 && scale < lastScale) {
      total += group * scale;
      lastScale = scale;
      group = 0;
      room = 1000;
    } else if (units >= 0 && room > units && (units >= 10 ? room > 10 : true) && (room > 10 || units > 0)) {
      group += units;
      room = 1;
    } else if (tens >= 2 && room > 10) {
      group += tens * 10;
      room = 10;
    } else return null;
    isEmpty = false;
  }
  return isEmpty ? null : total + group;
}

/** A unit as a multiple of its dimension's base unit; temperatures have an offset. */
export interface MeasureUnit {
  readonly dimension: string;
  readonly factor: number;
  readonly offset: number;
  /** Singular and plural. */
  readonly one: string;
  readonly many: string;
}

/** Dimension, factor, one, many, other names. United States measures where countries differ. */
const ROWS: readonly (readonly [string, number, string, string, string])[] = [
  ["length", 0.001, "millimeter", "millimeters", "mm,millimetre,millimetres"],
  ["length", 0.01, "centimeter", "centimeters", "cm,centimetre,centimetres"],
  ["length", 1, "meter", "meters", "m,metre,metres"],
  ["length", 1000, "kilometer", "kilometers", "km,kilometre,kilometres,kms"],
  ["length", 0.0254, "inch", "inches", "in"],
  ["length", 0.3048, "foot", "feet", "ft"],
  ["length", 0.9144, "yard", "yards", "yd"],
  ["length", 1609.344, "mile", "miles", "mi"],
  ["length", 1852, "nautical mile", "nautical miles", ""],
  ["mass", 0.001, "milligram", "milligrams", "mg"],
  ["mass", 1, "gram", "grams", "g,gramme,grammes"],
  ["mass", 1000, "kilogram", "kilograms", "kg,kilo,kilos,kgs"],
  ["mass", 1e6, "tonne", "tonnes", "metric ton,metric tons"],
  ["mass", 28.349523125, "ounce", "ounces", "oz"],
  ["mass", 453.59237, "pound", "pounds", "lb,lbs"],
  ["mass", 6350.29318, "stone", "stone", ""],
  ["volume", 1, "milliliter", "milliliters", "ml,millilitre,millilitres"],
  ["volume", 10, "centiliter", "centiliters", "cl,centilitre,centilitres"],
  ["volume", 100, "deciliter", "deciliters", "dl,decilitre,decilitres"],
  ["volume", 1000, "liter", "liters", "l,litre,litres"],
  ["volume", 4.92892159375, "teaspoon", "teaspoons", "tsp"],
  ["volume", 14.78676478125, "tablespoon", "tablespoons", "tbsp"],
  ["volume", 29.5735295625, "fluid ounce", "fluid ounces", ""],
  ["volume", 236.5882365, "cup", "cups", ""],
  ["volume", 473.176473, "pint", "pints", ""],
  ["volume", 946.352946, "quart", "quarts", ""],
  ["volume", 3785.411784, "gallon", "gallons", ""],
  ["time", 1, "second", "seconds", "sec,secs"],
  ["time", 60, "minute", "minutes", "min,mins"],
  ["time", 3600, "hour", "hours", "hr,hrs"],
  ["time", 86_400, "day", "days", ""],
  ["time", 604_800, "week", "weeks", ""],
  ["time", 1_209_600, "fortnight", "fortnights", ""],
  ["area", 1, "square meter", "square meters", "square metre,square metres"],
  ["area", 10_000, "hectare", "hectares", ""],
  ["area", 4046.8564224, "acre", "acres", ""],
  ["area", 0.09290304, "square foot", "square feet", ""],
  ["area", 1e6, "square kilometer", "square kilometers", "square kilometre,square kilometres"],
  ["area", 2_589_988.110336, "square mile", "square miles", ""],
  ["speed", 1, "kilometer an hour", "kilometers an hour", "km/h,kph,kilometers per hour,kilometres per hour"],
  ["speed", 1.609344, "mile an hour", "miles an hour", "mph,miles per hour"],
  ["speed", 1.852, "knot", "knots", ""],
  ["data", 1, "kilobyte", "kilobytes", "kb"],
  ["data", 1e3, "megabyte", "megabytes", "mb"],
  ["data", 1e6, "gigabyte", "gigabytes", "gb,gigs,gig"],
  ["data", 1e9, "terabyte", "terabytes", "tb"],
  [
    "temperature",
    1,
    "degree Celsius",
    "degrees Celsius",
    "celsius,centigrade,degrees centigrade,°c,c,degrees c",
  ],
  ["temperature", 5 / 9, "degree Fahrenheit", "degrees Fahrenheit", "fahrenheit,°f,f,degrees f"],
  ["years", 1, "month", "months", ""],
  ["years", 12, "year", "years", ""],
  ["years", 120, "decade", "decades", ""],
  ["years", 1200, "century", "centuries", ""],
  ["years", 12_000, "millennium", "millennia", ""],
];

const UNITS = new Map<string, MeasureUnit>();
for (const [dimension, factor, one, many, others] of ROWS) {
  const unit = { dimension, factor, offset: one === "degree Fahrenheit" ? -32 : 0, one, many };
  for (const name of [one, many, ...others.split(",")]) if (name !== "") UNITS.set(name.toLowerCase(), unit);
}

/** Finds a unit by singular, plural or abbreviation. */
export function unitOf(name: string): MeasureUnit | undefined {
  return UNITS.get(name.trim().toLowerCase());
}

/** Returns `null` for different dimensions. */
export function convert(value: number, from: MeasureUnit, to: MeasureUnit): number | null {
  if (from.dimension !== to.dimension) return null;
  return ((value + from.offset) * from.factor) / to.factor - to.offset;
}
