import { convert, type MeasureUnit, numberIn, unitOf } from "./quantities.ts";

/**
 * Answers questions about numbers and units: conversions, arithmetic, percentages, days of a month. Returns `null`
 * unless the whole question is understood.
 */
export function answerSum(question: string): string | null {
  if (question.length > MAX_CHARACTERS) return null;
  const asked = question
    .toLowerCase()
    .replaceAll("’", "'")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[$£€](?=\d)/g, "")
    .trim()
    .replace(POLITE_BEFORE, "")
    .replace(POLITE_AFTER, "");
  const isAsked = /[?=]\s*$/.test(question);
  const answer = ofYear(asked) ?? daysOfMonth(asked) ?? conversion(asked) ?? sum(asked, isAsked);
  return answer === null ? null : answer.charAt(0).toUpperCase() + answer.slice(1);
}

/** Sums are short; longer text only costs parsing time. */
const MAX_CHARACTERS = 200;

const POLITE_BEFORE =
  /^(?:(?:hey|hi|hello|ok|okay|so|um|well|and|please|quick question|quick one|tell me|remind me|can you tell me|could you tell me|do you know|i wonder|say)[,:.!]? )+/;
const POLITE_AFTER = /(?:,? (?:please|then|again|exactly|actually|roughly|about|thanks))*\s*[?.!]*$/;

function ofYear(asked: string): string | null {
  const form =
    /^how many (days|weeks|months) (?:are (?:there )?in|does|has|in|there are in|make(?: up)?) (?:a|one|the|each|every) (leap )?year(?: have)?$/;
  const [, unit = "", leap] = form.exec(asked) ?? [];
  if (unit === "") return null;
  if (unit === "months") return "A year has 12 months.";
  if (unit === "weeks")
    return `A ${leap ?? ""}year has 52 weeks and ${leap === undefined ? "a day" : "two days"}.`;
  return leap === undefined ? "A year has 365 days, and a leap year 366." : "A leap year has 366 days.";
}

function daysOfMonth(asked: string): string | null {
  const month =
    /^how many days (?:are (?:there )?in|does|has|in|has got|there are in) (?:the month of |an? )?(\w+)(?: have| got)?$/.exec(
      asked,
    )?.[1];
  if (month === "month") return "A month has 28 to 31 days.";
  if (month === undefined || !MONTHS.includes(month)) return null;
  const days = new Date(Date.UTC(2023, MONTHS.indexOf(month) + 1, 0)).getUTCDate();
  const name = month.charAt(0).toUpperCase() + month.slice(1);
  return month === "february" ? "February has 28 days, and 29 in a leap year." : `${name} has ${days} days.`;
}

const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);

function conversion(asked: string): string | null {
  const counted =
    /^how many ([a-z° /]+?) (?:are |is |do |does )?(?:there |you get |go |fit |make up |makes up |make |makes )?(?:in |into |to )?(a|an|one|[\d.,/]+|(?:[a-z-]+ ){0,5}?[a-z-]+?) ([a-z° /]+)$/;
  const plain =
    /^(?:what(?:'s| is| are)|how much (?:is|are)|convert|turn|calculate)? ?(.+) (?:in|into|to|as) ([a-z° /]+)$/;
  for (const [form, from, to] of [
    [counted, [2, 3], 1],
    [plain, [1], 2],
  ] as const) {
    const match = form.exec(asked);
    if (match === null) continue;
    for (const [count, unit] of amounts(from.map((n) => match[n]?.trim()).join(" "))) {
      const target = unitOf(match[to] ?? "");
      const value = target === undefined ? null : convert(count, unit, target);
      if (value === null || target === undefined || !isSayable(value)) continue;
      return `${sayAmount(count, unit)} ${count <= 1 || unit.dimension === "temperature" ? "is" : "are"} ${about(value)}${sayAmount(roundForSpeech(value), target)}.`;
    }
  }
  return null;
}

/** Yields each split into a count and a unit. */
function* amounts(text: string): Generator<[number, MeasureUnit]> {
  const words = text.replace(/(\d)(?=[a-z°])/, "$1 ").split(" ");
  for (let cut = 1; cut < words.length; cut++) {
    const unit =
      unitOf(words.slice(cut).join(" ").replace(/^of /, "")) ??
      unitOf(words.slice(cut).join(" ").replace(/^an? /, ""));
    const amount = words.slice(0, cut).join(" ");
    const count = ["a", "an"].includes(amount)
      ? 1
      : (numberIn(amount) ?? numberIn(amount.replace(/ an?$/, "")));
    if (unit !== undefined && count !== null) yield [count, unit];
  }
}

function sayAmount(count: number, unit: MeasureUnit): string {
  if (count === 0.5) return `half ${/^(?:[aeiou]|hour)/.test(unit.one) ? "an" : "a"} ${unit.one}`;
  return `${figures(count)} ${Math.abs(count) === 1 ? unit.one : unit.many}`;
}

function sum(asked: string, isAsked: boolean): string | null {
  const bare = asked.replace(
    /^(?:what(?:'s| is)|how much is|how much's|calculate|work out|compute|whats)\b:? ?/,
    "",
  );
  const isSum =
    /\d.*(?:[+×*÷%]|plus|minus|times|divided)/.test(bare) || (isAsked && /\dx\d|\d x \d|\bof \d/.test(bare));
  if (bare === asked && !isSum) return null;
  if (isDateOrNumber(bare)) return null;
  const value = amountOf(bare.replace(/ ?(?:\bis|\bequals|=)$/, ""), 0);
  // "What is 9/11?" asks about a date; a lone fraction counts only if it is a whole number.
  const isAlone =
    numberIn(bare) !== null && !bare.includes(" / ") && !(bare.includes("/") && Number.isInteger(value));
  if (value === null || isAlone) return null;
  if (Number.isNaN(value)) return "Nothing can be divided by zero.";
  return isSayable(value) ? `That's ${about(value)}${figures(roundForSpeech(value))}.` : null;
}

/** Returns whether figures look like a date, score, phone number or 24-7. */
function isDateOrNumber(text: string): boolean {
  if (/\d[-/]\d+[-/]\d/.test(text)) return true;
  const [, from, to] = /(\d+)-(\d+)/.exec(text) ?? [];
  return text === "24-7" || (from !== undefined && Number(from) < Number(to));
}

/** Returns whether a value is exact and short enough to say. */
function isSayable(value: number): boolean {
  return value === 0 || (Math.abs(value) >= 1e-4 && Math.abs(value) < Number.MAX_SAFE_INTEGER);
}

/** Operators by increasing precedence; left-associative within a row. */
const OPERATORS: readonly (readonly (readonly [RegExp, (a: number, b: number) => number])[])[] = [
  [
    [/ (?:plus|added to|\+) /, (a, b) => a + b],
    [/ (?:minus|less|take away|-|−) /, (a, b) => a - b],
  ],
  [
    [/ (?:times|multiplied by|x|×|\*) /, (a, b) => a * b],
    [/ (?:divided by|÷|\/) /, quotient],
  ],
];

/** Division by zero gives NaN; nothing else does. */
function quotient(a: number, b: number): number {
  return b === 0 ? Number.NaN : a / b;
}

/** Expressions of two amounts. */
const PERCENTAGES: readonly (readonly [RegExp, (a: number, b: number) => number])[] = [
  [/^(.+?) ?(?:%|percent|per cent) of (.+)$/, (a, b) => (a * b) / 100],
  [/^(.+?) ?(?:%|percent|per cent) off (.+)$/, (a, b) => b - (a * b) / 100],
  [/^(.+?) (?:less|fewer) than (.+)$/, (a, b) => b - a],
  [/^(.+?) more than (.+)$/, (a, b) => a + b],
];

const MODIFIERS: readonly (readonly [RegExp, (value: number) => number])[] = [
  [/^(?:the )?square root of (.+)$/, (value) => (value < 0 ? Number.POSITIVE_INFINITY : Math.sqrt(value))],
  [/^(?:double|twice) (.+)$/, (value) => value * 2],
  [/^(.+) squared$/, (value) => value ** 2],
  [/^(.+) cubed$/, (value) => value ** 3],
];

const MAX_DEPTH = 8;

function amountOf(text: string, depth: number): number | null {
  if (depth > MAX_DEPTH) return null;
  const alone = numberIn(text);
  if (alone !== null) return alone;
  const spaced = text
    .replaceAll(/(?<=\d) ?([x×*+÷/^−]) ?(?=[\d.])/g, " $1 ")
    .replaceAll(/(?<=\d) ?- ?(?=\d)/g, " - ");
  // Only for plain numbers: "ten minus two and a half" has two terms.
  const [first, second, ...others] = spaced.split(" and ");
  if (depth === 0 && second !== undefined && others.length === 0) {
    const [a, b] = [numberIn(first ?? ""), numberIn(second)];
    if (a !== null && b !== null) return Math.max(a, b) <= 100 ? a + b : null;
  }
  for (const row of OPERATORS) {
    let last: {
      readonly at: number;
      readonly length: number;
      readonly apply: (a: number, b: number) => number;
    } | null = null;
    for (const [operator, apply] of row) {
      for (const match of spaced.matchAll(new RegExp(operator, "g")))
        if (last === null || match.index > last.at)
          last = { at: match.index, length: match[0].length, apply };
    }
    if (last === null) continue;
    const value = combine(spaced.slice(0, last.at), spaced.slice(last.at + last.length), last.apply, depth);
    if (value !== null) return value;
  }
  for (const [form, apply] of PERCENTAGES) {
    const [, part, whole] = form.exec(spaced) ?? [];
    if (part !== undefined) return combine(part, whole, apply, depth);
  }
  const [, part = "", whole] = /^(.+?) of (.+)$/.exec(spaced) ?? [];
  const fraction = numberIn(part);
  if (fraction !== null && fraction < 1) return combine(part, whole, (a, b) => a * b, depth);
  for (const [form, apply] of MODIFIERS) {
    const inner = form.exec(spaced)?.[1];
    const value = inner === undefined ? null : amountOf(inner, depth + 1);
    if (value !== null) return finiteOrNull(apply(value));
  }
  // Nested powers and negative bases are ambiguous.
  const power =
    /^([\d.,]+|[a-z -]+?) (?:to the power of|\^|to the(?= \d+th\b)) (.+?)(?:th(?: power)?)?$/.exec(spaced);
  const [base, exponent] = [numberIn(power?.[1] ?? ""), numberIn(power?.[2] ?? "")];
  if (base !== null && base >= 0 && exponent !== null) return finiteOrNull(base ** exponent);
  return null;
}

function combine(
  left: string | undefined,
  right: string | undefined,
  apply: (a: number, b: number) => number,
  depth: number,
): number | null {
  const [a, b] = [amountOf(left ?? "", depth + 1), amountOf(right ?? "", depth + 1)];
  return a === null || b === null ? null : finiteOrNull(apply(a, b));
}

/** Infinity becomes `null`; NaN stays for {@link quotient}. */
function finiteOrNull(value: number): number | null {
  return Math.abs(value) === Number.POSITIVE_INFINITY ? null : value;
}

/** Rounds to as many places as people say. */
function roundForSpeech(value: number): number {
  if (Math.abs(value - Math.round(value)) < 1e-9) return Math.round(value) || 0;
  // Money.
  if (Math.abs(value * 100 - Math.round(value * 100)) < 1e-7) return Number(value.toFixed(2));
  return Number(value.toPrecision(Math.abs(value) >= 100 ? Math.ceil(Math.log10(Math.abs(value))) + 1 : 3));
}

function about(value: number): string {
  return Math.abs(roundForSpeech(value) - value) > 1e-9 * Math.abs(value) ? "about " : "";
}

function figures(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 6 });
}
