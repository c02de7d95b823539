import { after, before, type Kind, matchAt, spoken, withRanges } from "../kind.ts";
import { isNounAfter, isOneThing } from "../number-context.ts";
import { NUMBER, numberWords } from "../numerals.ts";
import { perUnit } from "./units.ts";

const MULTIPLE = withRanges(
  new RegExp(`(${NUMBER})(?:[x×]?( ?[-–—] ?| to )(${NUMBER}))?[x×](?![\\p{L}\\p{N}_²³^]|[-'’]\\p{L})`, "yu"),
);
/** "3/day" */
const RATE = withRanges(
  new RegExp(
    `(${NUMBER})/(day|night|week|month|year|hour|minute|second|person|page|user|team|customer|student)(?![\\p{L}\\p{N}_/])`,
    "yu",
  ),
);
/** Signs that make "2x" part of a sum or an equation. */
const SUM_BEFORE = /[-+*/=^(<>≤≥−]\s?$|=[^.,;]{0,50}$/u;
const SUM_AFTER = /^ ?(?:[-+*/=^<>≤≥−·(]|(?:equals|plus|minus|squared|cubed)\b)/u;
const VARIABLE = withRanges(/(?<![\p{L}\p{N}_])x(?![\p{L}\p{N}_-])/u);
const ALGEBRA =
  /\b(?:solve|simplify|expand|factor|differentiate|integrate|derivative|integral|function|equation|expression|term|graph|slope|size|sizes|plus|minus|equals|find|value|let|polynomial|multiply|subtract|divide)\b[^.!?]{0,40}$/iu;
/** What a number of times describes by itself: "at 2x speed". */
const DEGREE =
  /^[- ](?:speed|zoom|optical|lens|leverage|multiplier|magnification|playback|telephoto|boost)\b/u;
/** Where an item of a list begins: "2x eggs, 1x milk". */
const ITEM_BEFORE = withRanges(/(?:^|[\n,;:•(] ?|\b(?:order|and|includes?|contains?|add|added) )$/iu);
const COMPARED = /^ (?:better|worse|less|fewer|\w{2,12}er|increase|growth|return|times)\b/u;

/** "3x a day" → "three times a day", "a 10x engineer" → "ten X", "2x eggs" in a list → "two eggs". */
export const multiple: Kind = (text, at) => {
  const rate = matchAt(RATE, text, at);
  if (rate !== null) return spoken(rate, `${numberWords(rate[1] ?? "")} per ${rate[2]}`);
  const match = matchAt(MULTIPLE, text, at);
  if (match === null) return null;
  const [whole, first = "", joint, second] = match;
  const end = at + whole.length;
  const earlier = before(text, at);
  const rest = after(text, end);
  const per = perUnit(text, end);
  if (per.end > end)
    return {
      words: `${numberWords(first)}${joint === undefined ? "" : ` to ${numberWords(second ?? "")}`} times${per.words}`,
      end: per.end,
    };
  if (VARIABLE.test(earlier) || VARIABLE.test(rest)) return null;
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
