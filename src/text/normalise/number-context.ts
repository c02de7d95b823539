import { wordSet } from "../characters.ts";
import { oneOf, withRanges, wordAfter } from "./rule.ts";

/** Adjectives that may stand between a determiner and a number: "his new 20 …". */
const ADJECTIVES =
  "new old big small tiny huge full standard single whole simple crisp nice long short first second " +
  "third annual monthly cheap used great";
const DETERMINER = new RegExp(
  `\\b${oneOf("an? the his her their our its my your this that each every another one any no")}(?: ${oneOf(ADJECTIVES)})? $`,
  "iu",
);

/** Words that cannot begin a noun phrase. After a number they show that the number was the whole phrase. */
const NO_NOUN = wordSet(
  "a an the this that these those he she it we they you i me him her us them in on at by for to of from with " +
    "without and or but nor so yet as if when while than then per each every more less off over under up down out " +
    "back is are was were be been being am do does did has have had will would can could may might shall should " +
    "must not only just now today tomorrow tonight yesterday here there again away ago apart before after since " +
    "until till into onto through during about around across along between within because though although where " +
    "which who whom whose what how why also too later sooner earlier please online daily weekly monthly yearly " +
    "total overall downtown upfront tall wide long high deep thick north south east west above below near " +
    "left right further farther faster slower behind ahead",
);

/** Returns whether the number belongs to a noun: "a $20 bill", "the 400m final". */
export function isAttributive(earlier: string): boolean {
  return DETERMINER.test(earlier);
}

const IN_A_SERIES =
  "level stage page slide step part episode round question item chapter lesson message task track " +
  "attempt try batch wave file photo image picture day set lap module unit section test phase " +
  "exercise word card player song video disc disk box reel floor hole mission quest chunk epoch job " +
  "hint clue sheet panel volume season week act scene";
const COUNTED_THROUGH = new RegExp(
  `(?<!\\b${oneOf("the a this that each every per another")} )\\b${oneOf(IN_A_SERIES)} $`,
  "iu",
);

const SERIES = new RegExp(
  `\\b(?:${oneOf(`${IN_A_SERIES} row line seat number verse figure table section grade class team group option`)}s?|figs?\\.|nos?\\.|pp?\\.) $`,
  "iu",
);

/** Returns whether "1,2" after these words is a list. */
export function isInSeries(earlier: string): boolean {
  return SERIES.test(earlier);
}

/** Returns whether "2/5" after these words means the second of five. */
export function isCountedThrough(earlier: string): boolean {
  return COUNTED_THROUGH.test(earlier);
}

const COUNTED = withRanges(
  /^ ?\d{1,4} (?:more |other |extra )?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|people|times?|miles?|dollars?|percent)(?!\p{L})/u,
);

/** Returns whether a count follows, which is no name: "5 more minutes". */
export function isCounted(rest: string): boolean {
  return COUNTED.test(rest);
}

export function isNounAfter(text: string, end: number): boolean {
  const word = wordAfter(text, end);
  return word !== "" && !NO_NOUN.has(word.toLowerCase());
}

/** Abbreviations, without their stop, that are expanded only before a number: "no. 5", "fig. 2". */
export const NUMBERED: readonly string[] =
  "no nos No Nos p c ca Op op art Art fig Fig ch Ch Sec sec Pt Gr Fl Rm eq Eq ext Ext est ex Ex Figs figs chap Chap vols".split(
    " ",
  );

const SAYING =
  /\b(?:said|say|says|saying|answer(?:ed|s)?|repl(?:y|ied)|told|nodded|means?|meant)(?: (?:him|her|them|me|us|you))?[ (“"]*$/iu;

/** Returns whether "no." is quoted speech: 'He said no.' */
export function isAfterSaying(earlier: string): boolean {
  return SAYING.test(earlier);
}
