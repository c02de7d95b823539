import { after, before, type Kind, matchAt, spoken, withRanges } from "../kind.ts";
import { isOneThing } from "../number-context.ts";
import { NUMBER, numberWords } from "../numerals.ts";

const SCALES: ReadonlyMap<string, string> = new Map([
  ["k", "thousand"],
  ["m", "million"],
  ["b", "billion"],
  ["t", "trillion"],
  ["mn", "million"],
  ["mm", "million"],
  ["bn", "billion"],
  ["tn", "trillion"],
]);
const COUNT = withRanges(
  new RegExp(`(${NUMBER})( ?(?:bn|mn|tn)|[KkMBT]|m)(\\+?)(?![\\p{L}\\p{N}_/]|-[A-Z])`, "uy"),
);
const RANGE = withRanges(new RegExp(`(${NUMBER})([KMB]?)[-–](${NUMBER})([KMB])(?![\\p{L}\\p{N}_/-])`, "uy"));
/** What is counted in thousands and more; a noun in the plural, or one of these. */
const COUNTED = withRanges(
  /^ (?:\p{Ll}{1,12} )?(?:people|men|women|children|\p{Ll}{2,20}[^\W\d_aious'](?<=[a-z])s)(?!\p{L})/u,
);
/** "the 4K build runs": a thing and what it does. */
const TWO_WORDS = withRanges(/^ \p{Ll}{1,12} \p{Ll}{2,20}s(?!\p{L})/u);
const COUNTED_NEXT = withRanges(
  /^[- ](?:people|follower|user|view|parameter|member|subscriber|download|customer|student|resident|acre|year|mile|dollar|line|token|row|record)/u,
);
/** Words that only look like a plural. */
const NO_PLURAL =
  /^ (?:is|was|has|does|this|its|always|less|across|versus|plus|races?|runs?|screens?|monitors?|videos?|tvs?|displays?)\b/iu;
/** After these a number is a count; a seat or a flat stands after others. */
const BEFORE_A_COUNT =
  /(?:\b(?:about|around|over|under|nearly|almost|roughly|some|approximately|than|least|most|hit|hits|reach(?:ed|es)?|past|passed|topped|tops|exceeds?|exceeded|from|to|by|another|worth|sold|raised|between|population of)|[~<>≈]) ?$/iu;
/** The same for one digit, which is a firm's name after others ("by 3M"). */
const BEFORE_A_SMALL_COUNT =
  /(?:\b(?:about|around|over|under|nearly|almost|roughly|least|hit|hits|reach(?:ed|es)?|past|passed|topped|tops|exceeds?|exceeded|sold|raised)|[~<>≈]) $/iu;
const NAMED =
  /\b(?:seat|gate|row|apartment|apt\.?|unit|suite|room|exit|size|flight|form|bus|route|part|model|stage|level|to (?:seat|gate|row|exit))s? $/iu;

/** Counts with a letter for thousands and more: "1.2M views", "500K users", "over 10B", "5K-10K followers". */
export const magnitude: Kind = (text, at) => {
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
    (COUNTED.test(rest) && !(isOneThing(earlier) && TWO_WORDS.test(rest))) || COUNTED_NEXT.test(rest);
  if (letter === "m") return isCounted && COUNTED_NEXT.test(rest.replace(/^ people/u, " user"));
  return (
    number.includes(".") ||
    isCounted ||
    (number.length > 1 ? BEFORE_A_COUNT : BEFORE_A_SMALL_COUNT).test(earlier)
  );
}

/** "k", " bn" → "thousand", "billion"; "" for what is no scale. */
export function scaleOf(letter = ""): string {
  return SCALES.get(letter.trim().toLowerCase()) ?? "";
}
