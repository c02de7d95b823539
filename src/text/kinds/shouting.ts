import { capitalise } from "../characters.ts";
import type { Replacement, Traced } from "../traced.ts";
import { isLettered } from "./letters.ts";
import { light } from "./light.ts";
import { after, before } from "./spoken.ts";

/** Whether a dictionary lists a word as it is written. */
export type IsListed = (word: string) => boolean;

const WORD = light(/(?<![\p{L}\p{N}_.@/#&'’])[A-Z]+(?:['’][A-Z]+)?(?![\p{L}\p{N}_@/&]|\.\p{L})/gu);
const SMALL = light(/\p{Ll}/u);
/** What may stand between two words of one shout. */
const BETWEEN = /^[,;:]? ?["“”(—–-]? ?$/u;
/** Words that are initials too; in a shout they are the word. */
const ALSO_INITIALS: ReadonlySet<string> = new Set(
  (
    "it us in or me he she hi oh ah am who this at as is an a by of on to if so up we my no do go be ad act sat may " +
    "mom dad all can will has was her his our are any end for and the but not you out get got let new now off one see"
  ).split(" "),
);
/** Short for what is written with one capital. */
const SHORT: ReadonlySet<string> = new Set(
  "MR MRS DR JAN FEB APR JUN JUL AUG SEPT SEP OCT NOV DEC TUE TUES THU THURS FRI ATTN DEPT ST AVE BLVD RD LN PKWY HWY".split(
    " ",
  ),
);
/** What stands before one of these is its name. */
const ROADS: ReadonlySet<string> = new Set("ST AVE BLVD RD LN PKWY".split(" "));
/** An article, where letters go by no name before it and a word follows. */
const ARTICLE_NEXT = /^ [A-Z]{2}/u;
/** After these, US and IT are initials in a shout too. */
const DETERMINER = /\b(?:THE|OUR|YOUR|MY|THEIR) $/u;
const AFTER_DETERMINER: ReadonlySet<string> = new Set(["US", "IT"]);
const HOUR = /\d ?$/u;
const BEGUN = light(/[\p{L}\p{N}]/u);
const FEWEST_INSIDE = 3;
const FEWEST_ORDINARY_INSIDE = 2;

/**
 * Sentences in capitals, and runs of three words and more, in small letters: "IT IS TIME", "please LET ME IN". What no
 * dictionary has as a word stays as it is, and so is spelled ("FBI").
 */
export function withoutShouting(traced: Traced, isListed: IsListed): Traced {
  const sentence = traced.text;
  const words = [...sentence.matchAll(WORD)];
  if (words.length < 2) return traced;
  const isAll = !SMALL.test(sentence);
  const quieter: Replacement[] = [];
  for (let from = 0; from < words.length; ) {
    let to = from + 1;
    while (to < words.length && (isAll || isBeside(sentence, words[to - 1], words[to]))) to++;
    const run = words.slice(from, to);
    if (isShout(run, isAll)) {
      for (const [index, word] of run.entries()) {
        const isCapital =
          SHORT.has(word[0]) ||
          ROADS.has(run[index + 1]?.[0] ?? "") ||
          !BEGUN.test(before(sentence, word.index));
        const small = isCapital ? capitalise(word[0]) : word[0].toLowerCase();
        const end = word.index + word[0].length;
        if (!SHORT.has(word[0]) && !isWord(word[0], before(sentence, word.index), after(sentence, end)))
          continue;
        quieter.push({ from: word.index, to: end, words: small });
      }
    }
    from = to;
  }
  return traced.edited(quieter);

  function isShout(run: readonly RegExpExecArray[], isWhole: boolean): boolean {
    const ordinary = run.filter(([word]) => isOrdinary(word)).length;
    return isWhole
      ? run.length > 1 && ordinary > 0
      : run.length >= FEWEST_INSIDE && ordinary >= FEWEST_ORDINARY_INSIDE;
  }

  function isWord(word: string, earlier: string, later: string): boolean {
    if (word === "I" || (word === "AM" && HOUR.test(earlier))) return false;
    if (AFTER_DETERMINER.has(word)) return !DETERMINER.test(earlier);
    if (word === "A") return ARTICLE_NEXT.test(later) && !isLettered(earlier);
    return ALSO_INITIALS.has(word.toLowerCase()) || isOrdinary(word);
  }

  function isOrdinary(word: string): boolean {
    return word.length > 1 && isListed(word.toLowerCase()) && !isListed(word);
  }
}

function isBeside(sentence: string, first?: RegExpExecArray, second?: RegExpExecArray): boolean {
  if (first === undefined || second === undefined) return false;
  return BETWEEN.test(sentence.slice(first.index + first[0].length, second.index));
}
