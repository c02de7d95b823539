/**
 * Whether a sentence gives the number of a telephone, a card, a bank account or a person that nobody has said before:
 * a language model makes such numbers up, and somebody may call or pay to them. By its shape, or by the word before it;
 * years, dates, amounts, measures and versions have neither.
 */
export function givesNewNumber(sentence: string, heard: string): boolean {
  const digitsHeard = digitsOf(heard);
  return numbersIn(sentence).some((number) => {
    const digits = digitsOf(number);
    return digits.length >= FEWEST_DIGITS && !digitsHeard.includes(digits);
  });
}

function numbersIn(sentence: string): string[] {
  if (!ENOUGH.test(sentence)) return [];
  const named = [...sentence.matchAll(NAMED)].map(([, number]) => number ?? "");
  const shaped = SHAPES.flatMap((shape) => sentence.match(shape) ?? []);
  return [...named, ...shaped, ...(sentence.match(UNBROKEN) ?? []).filter(isCard)];
}

/** Three digits are an emergency's, six a short code's. */
const FEWEST_DIGITS = 7;
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
  String.raw`\b(?:(?:call|dial|phone|ring|text|fax)(?: (?:me|us|them|him|her|it))?|tel|mobile|cell|hotline|helpline|whats ?app|` +
    String.raw`account|acct|routing|card|passport|ssn|social security|(?:my|your|his|her|their|our)(?: \w+)? number)\b` +
    String.raw`\.?(?: (?:number|no|code|line|is|was|at|on|to|the))*[.:#]? ?#?(\d(?:[ ().-]{0,2}\d){6,18})${AFTER}`,
  "gi",
);

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
