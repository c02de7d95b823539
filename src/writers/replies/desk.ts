import { contentWords, stemsOf } from "../heard/content-words.ts";
import { plain, sentencesIn } from "../heard/sentences.ts";

/**
 * What an operator's instructions say of what is asked, from the mouth of whoever they are for, what shares most words
 * first: "You are Ann, at the desk of the Green Fork. There is a table at eight." has "There is a table at eight." for
 * "Have you got a table?".
 */
export function deskClauses(instructions: string, newest: string): string[] {
  const spokenOf = [...stemsOf(newest)];
  const asksWho = asksWhoSpeaks(newest);
  return sentencesIn(plain(instructions))
    .filter((sentence, n, all) => !isKeptBack(sentence, all[n + 1] ?? ""))
    .flatMap((sentence) => clausesOf(sentence))
    .filter((clause) => !ORDERS.test(clause))
    .flatMap((clause, n) => {
      const stems = stemsOf(clause);
      const places = spokenOf.flatMap((stem, place) => (stems.has(stem) ? [place] : []));
      const isWho = asksWho && SELF.test(clause);
      if (!isWho && places.length === 0) return [];
      return [{ clause, n, shared: isWho ? 9 : places.length, first: places[0] ?? 0 }];
    })
    .toSorted((a, b) => b.shared - a.shared || a.first - b.first || a.n - b.n)
    .flatMap(({ clause }) => inFirstPerson(clause) ?? []);
}

/** Whether a reply names nothing but what the instructions or the talk have named: else it may promise what is not there. */
export function isOfTheDesk(reply: string, instructions: string, words: ReadonlySet<string>): boolean {
  const known = contentWords(instructions);
  return [...contentWords(reply)].every(
    (word) => known.has(word) || words.has(word) || PLAIN_WORDS.has(word),
  );
}

/** Whether a sentence of instructions is for whoever they are for alone: an order, a secret, or what one speaks of. */
function isKeptBack(sentence: string, next: string): boolean {
  return KEPT_BACK.test(sentence) || (POINTS_BACK.test(next) && SECRET.test(next));
}

/** Whether it is asked who speaks. */
export function asksWhoSpeaks(newest: string): boolean {
  return WHO_ARE_YOU.test(newest);
}

function clausesOf(sentence: string): string[] {
  if (sentence.split(" ").length <= MAX_WORDS) return [sentence];
  return sentence
    .split(/;\s*|, (?:and|but) (?=(?:you|there|the|we)\b)/i)
    .filter((part) => part.split(" ").length <= MAX_WORDS);
}

/** "You are Ann" becomes "I'm Ann". `null` where it speaks of the other one or of itself in another way. */
function inFirstPerson(clause: string): string | null {
  if (/\b(?:user|caller|customer|guest|player|they ask|if asked|if they)\b/i.test(clause)) return null;
  const said = TURNS.reduce((text, [form, to]) => text.replaceAll(form, to), clause).replace(
    /[\s.!;,]+$/,
    "",
  );
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}

const TURNS: readonly (readonly [RegExp, string])[] = [
  [/\byou(?: are|'re)\b/gi, "I'm"],
  [/\byou were\b/gi, "I was"],
  [/\byour\b/gi, "my"],
  [/\byours\b/gi, "mine"],
  [/\byourself\b/gi, "myself"],
  [
    /\b(to|for|with|from|of|by|call|calls|know|knows|tell|tells|ask|asks|give|gives|pay|pays|help|helps) you\b/gi,
    "$1 me",
  ],
  [
    /(?<=\b(?:behind|beside|near|opposite|above|below|around|about|on|at|before|after) )you\b|(?<= )you(?=[.!]?$)/gi,
    "me",
  ],
  [/\byou\b/gi, "I"],
];
const SELF = /\byou(?: are|'re)\b|\byour name\b|\bcalled\b/i;
const WHO_ARE_YOU =
  /\bwho (?:are|r) (?:you|u)\b|\b(?:your|ur) name\b|\bwho am i (?:speaking|talking) (?:to|with)\b|\bwhat are you called\b/i;
/** Says how to speak, not what is. */
const ORDERS =
  /^(?:please |always |never |do not |don't |only |be |speak |answer |keep |use |say |stay |talk |reply |respond |tell |ask |offer |help |refuse |greet |avoid |act |pretend )/i;
const KEPT_BACK =
  /\b(?:never|do not|don't|must|mustn't|should|shouldn't|only if|if any|if (?:some|any)(?:one|body)|if asked|deny|refuse|reveal|disclose|mention|pretend|upsell|persuade|secret(?:ly)?|internal|confidential(?:ly)?|private(?:ly)?|note to|answer key|between us|under no circumstances|not to|password|passcode|codes?|pin|salary|budget)\b/i;
/** Says of what was said before that it is not to be told. */
const SECRET =
  /\b(?:(?:never|not|don't|nobody|no one) (?:\p{L}+ ){0,3}?(?:reveal|disclose|tell|mention|say|know|share|give)|secret|confidential|between us|reveal)\b/iu;
const POINTS_BACK = /^(?:please )?(?:never|do not|don't|this|that|keep|it)\b/i;
const PLAIN_WORDS = contentWords(
  "sorry afraid yes no sure certainly course please thanks thank welcome hello help say tell right left anything else " +
    "understand moment see well pleasure fine great let look have got there here more",
);
const MAX_WORDS = 26;
