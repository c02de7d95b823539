/**
 * Whether a sentence gives the number of a telephone, a card, a bank account or a person that nobody has said before:
 * a language model makes such numbers up, and somebody may call or pay to them. By its shape, or by the word before it;
 * years, dates, amounts, measures and versions have neither, and a number that counts something is none of them.
 */
export function givesNewNumber(sentence: string, heard: string): boolean {
  const digitsHeard = digitsOf(heard);
  return numbersIn(sentence).some((number) => {
    const digits = digitsOf(number);
    return digits.length >= MIN_DIGITS && !digitsHeard.includes(digits);
  });
}

function numbersIn(sentence: string): string[] {
  if (!ENOUGH.test(sentence)) return [];
  const behind = (match: RegExpMatchArray) => sentence.slice((match.index ?? 0) + match[0].length);
  const named = [...sentence.matchAll(NAMED)].flatMap((match) => {
    const [, noun, link = "", number = ""] = match;
    const isSaidOf = noun === undefined ? link === "" : /\b(?:is|was)$/.test(link);
    const isNumber = /\bn(?:umber|o)\b/i.test(match[0]);
    return !isNumber && isQuantity(number, behind(match), isSaidOf) ? [] : number;
  });
  const cards = [...sentence.matchAll(UNBROKEN)].filter(([number]) => isCard(number));
  const shaped = [...SHAPES.flatMap((shape) => [...sentence.matchAll(shape)]), ...cards]
    .filter((match) => !isQuantity(match[0], behind(match), false))
    .map(([number]) => number);
  return [...named, ...shaped];
}

/**
 * Whether a number says how many or how much: round, with its thousands apart, or in front of a unit. In front of any
 * plural where the number is what is called or what something is, and not what something is named.
 */
function isQuantity(number: string, behind: string, isSaidOf: boolean): boolean {
  const written = number.trim();
  if (ROUND.test(digitsOf(written)) || THOUSANDS.test(written) || UNIT.test(behind)) return true;
  return isSaidOf && PLURAL.test(behind) && !NO_PLURAL.test(behind);
}

/** Three digits are an emergency's, six a short code's. */
const MIN_DIGITS = 7;
const ENOUGH = /\d(?:\D*\d){6}/;
/** Not inside another number. */
const [BEFORE, AFTER] = [String.raw`(?<![\w.,/+-]|\d )`, String.raw`(?![\w/]|[.,:-]\d)`];
const SHAPES = [
  String.raw`\+\d{1,3}[\s.(-]{0,2}\d(?:[\s().-]{0,2}\d){5,12}`,
  String.raw`(?:1[-. ])?(?:\(\d{3}\) ?|\d{3}[-. ])\d{3}[-. ]\d{4}`,
  String.raw`\(?0\d{2,5}\)?[ /-]\d{3,8}(?:[ -]\d{2,8}){0,3}`,
  String.raw`\d{3}-\d{2}-\d{4}`,
  String.raw`\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}`,
  String.raw`\d{4}[ -]\d{6}[ -]\d{5}`,
  String.raw`[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){3,7}(?: ?[A-Z\d]{1,3})?`,
].map((shape) => new RegExp(`${BEFORE}${shape}${AFTER}`, "g"));
const UNBROKEN = new RegExp(`${BEFORE}[3-6]\\d{14,15}${AFTER}`, "g");

/** What a number of no particular shape is given for: "her number is", "call them at", "account no." */
const NAMED = new RegExp(
  String.raw`\b(?:(?:call|dial|phone|ring|text|fax)(?: (?:me|us|them|him|her|it))?|(tel|mobile|cell|hotline|helpline|whats ?app|` +
    String.raw`account|acct|routing|card|passport|ssn|social security|(?:my|your|his|her|their|our)(?: \w+)? number))\b` +
    String.raw`\.?((?: (?:number|no|code|line|is|was|at|on|to|the))*)[.:#]? ?#?(\d(?:[ ().-]{0,2}\d){6,18})${AFTER}`,
  "gi",
);
/** No telephone has so many noughts. */
const ROUND = /^[1-9]\d?0{5,}$/;
/** "1 500 000"; with three digits first, it is as often a telephone's. */
const THOUSANDS = /^[1-9]\d?([ .\u00a0\u202f])\d{3}(?:\1\d{3})+$/;
const UNIT =
  /^[ \u00a0]?(?:[€£¥%°]|(?:(?:square|cubic|light|us|american|canadian|australian) |light-|kilo|centi|milli|mega|giga|tera)?(?:dollars?|euros?|pounds?|cents?|pence|yen|yuan|won|rupees?|rubles?|roubles?|francs?|kron(?:or|er|a)|pesos?|rand|people|persons?|men|women|children|met(?:er|re)s?|miles?|feet|foot|inch(?:es)?|yards?|acres?|hectares?|grams?|grammes?|ounces?|tons?|tonnes?|lit(?:er|re)s?|gallons?|bytes?|bits?|watts?|hertz|volts?|joules?|calories?|years?|days?|hours?|minutes?|seconds?|weeks?|months?|degrees?|per ?cent|percent|times|k?m|km|kg|mg|cm|mm|usd|eur|gbp)\b)/i;
const PLURAL = /^ [a-z]{2,}[^\Ws]s\b/;
/** Of when and how: "call … always", "call … weekdays". */
const NO_PLURAL =
  /^ (?:was|has|does|its|always|sometimes|perhaps|plus|thus|besides|afterwards|unless|across|thanks|whereas|\w*days|weekends|nights|mornings|afternoons|evenings)\b/;

/** Luhn's check, which every card's number passes and one in ten other numbers. */
function isCard(number: string): boolean {
  const sum = [...number].reverse().reduce((total, digit, i) => {
    const value = Number(digit) * (1 + (i % 2));
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

function digitsOf(text: string): string {
  return text.replace(/\D/g, "");
}
