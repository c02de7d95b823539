import { light } from "./light.ts";
import { NUMBER, numberWords } from "./numerals.ts";
import { after, before, type Kind, matchAt } from "./spoken.ts";
import { isNounAfter, isOneThing } from "./things.ts";

const MULTIPLE = light(
  new RegExp(`(${NUMBER})(?:[x×]?( ?[-–—] ?| to )(${NUMBER}))?[x×](?![\\p{L}\\p{N}_²³^]|[-'’]\\p{L})`, "yu"),
);
/** Signs that make "2x" part of a sum or an equation. */
const SUM_BEFORE = /[-+*/=^(<>≤≥−]\s?$|=[^.,;]{0,50}$/u;
const SUM_AFTER = /^ ?(?:[-+*/=^<>≤≥−·(]|(?:equals|plus|minus|squared|cubed)\b)/u;
const ALGEBRA =
  /\b(?:solve|simplify|expand|factor|differentiate|integrate|derivative|integral|function|equation|expression|term|graph|slope|size|sizes|plus|minus|equals|find|value|let|polynomial|multiply|subtract|divide)\b[^.!?]{0,40}$/iu;
/** What a number of times describes by itself: "at 2x speed". */
const DEGREE =
  /^[- ](?:speed|zoom|optical|lens|leverage|multiplier|magnification|playback|telephoto|boost)\b/u;
/** Where an item of a list begins: "2x eggs, 1x milk". */
const ITEM_BEFORE = light(/(?:^|[\n,;:•(] ?|\b(?:order|and|includes?|contains?|add|added) )$/iu);
const COMPARED = /^ (?:better|worse|less|fewer|\w{2,12}er|increase|growth|return|times)\b/u;

/** "3x a day" → "three times a day", "a 10x engineer" → "ten X", "2x eggs" in a list → "two eggs". */
export const multiple: Kind = (text, at) => {
  const match = matchAt(MULTIPLE, text, at);
  if (match === null) return null;
  const [whole, first = "", joint, second] = match;
  const end = at + whole.length;
  const earlier = before(text, at);
  const rest = after(text, end);
  if (SUM_BEFORE.test(earlier) || SUM_AFTER.test(rest) || ALGEBRA.test(earlier)) return null;
  const words =
    joint === undefined ? numberWords(first) : `${numberWords(first)} to ${numberWords(second ?? "")}`;
  const isNoun = isNounAfter(text, end) && !COMPARED.test(rest);
  if (ITEM_BEFORE.test(earlier) && (isNoun || /^ \d/u.test(rest)) && !DEGREE.test(rest))
    return { words, end };
  if (DEGREE.test(rest) || (isOneThing(earlier) && isNounAfter(text, end)))
    return { words: `${words} X`, end };
  return { words: `${words} ${words === "one" ? "time" : "times"}`, end };
};
