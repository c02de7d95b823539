import { wordMap } from "../../characters.ts";
import { isAttributive, isNounAfter } from "../number-context.ts";
import { NUMBER, numberWords } from "../number-words.ts";
import { after, before, matchAt, oneOf, spoken, type TokenRule, withRanges } from "../rule.ts";
import { perUnit } from "./units.ts";

const SCALES = wordMap(
  "k thousand,m million,b billion,t trillion,mn million,mm million,bn billion,tn trillion",
);
const COUNT = withRanges(`(${NUMBER})( ?(?:bn|mn|tn)|[KkMBT]|m)(\\+?)(?![\\p{L}\\p{N}_/]|-[A-Z])`, "uy");
const RANGE = withRanges(`(${NUMBER})([KMB]?)[-–](${NUMBER})([KMB])(?![\\p{L}\\p{N}_/-])`, "uy");
const COUNTED = withRanges(
  /^ (?:\p{Ll}{1,12} )?(?:people|men|women|children|\p{Ll}{2,20}[^\W\d_aious'](?<=[a-z])s)(?!\p{L})/u,
);
const TWO_WORDS = withRanges(/^ \p{Ll}{1,12} \p{Ll}{2,20}s(?!\p{L})/u);
const COUNTED_NEXT = withRanges(
  /^[- ](?:people|follower|user|view|parameter|member|subscriber|download|customer|student|resident|acre|year|mile|dollar|line|token|row|record)/u,
);
const NO_PLURAL =
  /^ (?:is|was|has|does|this|its|always|less|across|versus|plus|races?|runs?|screens?|monitors?|videos?|tvs?|displays?)\b/iu;
/** After these a number is a count and not a seat or a flat. */
const QUANTIFIERS =
  "about around over under nearly almost roughly least hit hits reach(?:ed|es)? past passed topped " +
  "tops exceeds? exceeded sold raised";
const BEFORE_A_COUNT = new RegExp(
  `(?:\\b(?:${oneOf(`${QUANTIFIERS} some approximately than most from to by another worth between`)}|population of)|[~<>≈]) ?$`,
  "iu",
);
/** For one digit only these: "by 3M" is a company. */
const BEFORE_A_SMALL_COUNT = new RegExp(`(?:\\b${oneOf(QUANTIFIERS)}|[~<>≈]) $`, "iu");
const NAMED =
  /\b(?:seat|gate|row|apartment|apt\.?|unit|suite|room|exit|size|flight|form|bus|route|part|model|stage|level|to (?:seat|gate|row|exit))s? $/iu;

/** "1.2M views", "500K users", "over 10B", "5K-10K followers". */
export const magnitude: TokenRule = (text, at) => {
  const range = matchAt(RANGE, text, at);
  if (range !== null && isCount(text, at, at + range[0].length, range[3] ?? "", range[4] ?? "")) {
    const upper = scaleOf(range[4]);
    const lower = range[2] === "" || range[2] === range[4] ? "" : ` ${scaleOf(range[2])}`;
    return spoken(range, `${numberWords(range[1] ?? "")}${lower} to ${numberWords(range[3] ?? "")} ${upper}`);
  }
  const match = matchAt(COUNT, text, at);
  if (match === null) return null;
  const [whole, number = "", letter = "", plus] = match;
  const end = at + whole.length;
  if (!isCount(text, at, end, number, letter)) return null;
  return { words: `${numberWords(number)} ${scaleOf(letter)}${plus === "" ? "" : " plus"}`, end };
};

function isCount(text: string, at: number, end: number, number: string, letter: string): boolean {
  if (letter.trim().length > 1) return true;
  const rest = after(text, end);
  const earlier = before(text, at);
  if (NAMED.test(earlier) || NO_PLURAL.test(rest)) return false;
  const isCounted =
    (COUNTED.test(rest) && !(isAttributive(earlier) && TWO_WORDS.test(rest))) || COUNTED_NEXT.test(rest);
  if (letter === "m") return isCounted && COUNTED_NEXT.test(rest.replace(/^ people/u, " user"));
  return (
    number.includes(".") ||
    isCounted ||
    (number.length > 1 ? BEFORE_A_COUNT : BEFORE_A_SMALL_COUNT).test(earlier)
  );
}

/** "k", " bn" → "thousand", "billion"; "" if it is no scale. */
export function scaleOf(letter = ""): string {
  return SCALES.get(letter.trim().toLowerCase()) ?? "";
}

const MULTIPLE = withRanges(
  `(${NUMBER})(?:[x×]?( ?[-–—] ?| to )(${NUMBER}))?[x×](?![\\p{L}\\p{N}_²³^]|[-'’]\\p{L})`,
  "yu",
);
const RATE = withRanges(
  `(${NUMBER})/(day|night|week|month|year|hour|minute|second|person|page|user|team|customer|student)(?![\\p{L}\\p{N}_/])`,
  "yu",
);
const SUM_BEFORE = /[-+*/=^(<>≤≥−]\s?$|=[^.,;]{0,50}$/u;
const SUM_AFTER = /^ ?(?:[-+*/=^<>≤≥−·(]|(?:equals|plus|minus|squared|cubed)\b)/u;
const VARIABLE = withRanges(/(?<![\p{L}\p{N}_])x(?![\p{L}\p{N}_-])/u);
const MATHEMATICS =
  "solve simplify expand factor differentiate integrate derivative integral function equation " +
  "expression term graph slope size sizes plus minus equals find value let polynomial multiply " +
  "subtract divide";
const ALGEBRA = new RegExp(`\\b${oneOf(MATHEMATICS)}\\b[^.!?]{0,40}$`, "iu");
const DEGREE =
  /^[- ](?:speed|zoom|optical|lens|leverage|multiplier|magnification|playback|telephoto|boost)\b/u;
const ITEM_BEFORE = withRanges(/(?:^|[\n,;:•(] ?|\b(?:order|and|includes?|contains?|add|added) )$/iu);
const COMPARED = /^ (?:better|worse|less|fewer|\w{2,12}er|increase|growth|return|times)\b/u;

/** "3x a day" → "three times a day", "a 10x engineer" → "ten X", "2x eggs" in a list → "two eggs". */
export const multiple: TokenRule = (text, at) => {
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
  if (DEGREE.test(rest) || (isAttributive(earlier) && isNounAfter(text, end)))
    return { words: `${words} X`, end };
  return { words: `${words} ${words === "one" ? "time" : "times"}`, end };
};
