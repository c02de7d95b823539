/**
 * A number as people write or say it: `1,250`, `3.5`, `1/2`, "twenty-five", "a hundred and five", "three point one four",
 * "one and a half", "a dozen", "minus five". `null` where the whole text is none.
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
    // "Two thirds", but not "twenty-third".
    return whole === null || count === null || (count === 1) === (plural === "s")
      ? null
      : whole + count * PARTS[part]!;
  }
  const scaled = /^(\d+(?:\.\d+)?) (hundred|thousand|million|billion)$/.exec(plain);
  if (scaled) return Number(scaled[1]) * (SCALES[scaled[2] ?? ""] ?? 1);
  const [whole = "", decimals, ...others] = plain.split(" point ");
  // A version, perhaps.
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
/** What there is one of: "a hundred". */
const COUNTED: ReadonlySet<string> = new Set([...Object.keys(SCALES), "dozen"]);
const PARTS: Readonly<Record<string, number>> = {
  half: 1 / 2,
  third: 1 / 3,
  quarter: 1 / 4,
  fifth: 1 / 5,
  sixth: 1 / 6,
  seventh: 1 / 7,
  eighth: 1 / 8,
  ninth: 1 / 9,
  tenth: 0.1,
};

/** Below a million millions; each scale once, from large to small. */
function wholeNumber(words: readonly string[]): number | null {
  let total = 0;
  let group = 0;
  let lastScale = Number.POSITIVE_INFINITY;
  /** What the group can still take: a hundred, tens, units. */
  let room = 1000;
  let isEmpty = true;
  for (const [n, word] of words.entries()) {
    const scale = SCALES[word];
    const units = SMALL.indexOf(word);
    const tens = TENS.indexOf(word);
    if (word === "and" && n > 0 && n < words.length - 1 && !isEmpty) continue;
    if (word === "a" && n === 0 && COUNTED.has(words[1] ?? "")) group = 1;
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
