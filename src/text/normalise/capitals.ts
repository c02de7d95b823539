import { capitalise, wordSet } from "../characters.ts";
import type { Replacement, RewrittenText } from "../rewritten-text.ts";
import { after, before, matchAt, oneOf, type TokenRule, withRanges } from "./rule.ts";

/** Returns whether a dictionary lists a word with this capitalisation. */
export type IsListed = (word: string) => boolean;

const WORD = withRanges(/(?<![\p{L}\p{N}_.@/#&'’])[A-Z]+(?:['’][A-Z]+)?(?![\p{L}\p{N}_@/&]|\.\p{L})/gu);
const SMALL = withRanges(/\p{Ll}/u);
/** Separators allowed between two words of one run in capitals. */
const BETWEEN = /^[,;:]? ?["“”(—–-]? ?$/u;
/** Words that may also be initials. In a run of capitals they are words. */
const ALSO_INITIALS = wordSet(
  "it us in or me he she hi oh ah am who this at as is an a by of on to if so up we my no do go be ad act sat may " +
    "mom dad all can will has was her his our are any end for and the but not you out get got let new now off one see",
);
const SHORT = wordSet(
  "MR MRS DR JAN FEB APR JUN JUL AUG SEPT SEP OCT NOV DEC TUE TUES THU THURS FRI ATTN DEPT ST AVE BLVD RD LN PKWY HWY",
);
const ROADS = wordSet("ST AVE BLVD RD LN PKWY");
const ARTICLE_NEXT = /^ [A-Z]{2}/u;
/** After these, US and IT are initials even in a run of capitals. */
const DETERMINER = /\b(?:THE|OUR|YOUR|MY|THEIR) $/u;
const AFTER_DETERMINER: ReadonlySet<string> = new Set(["US", "IT"]);
const HOUR = /\d ?$/u;
const BEGUN = withRanges(/[\p{L}\p{N}]/u);
const MIN_INSIDE = 3;
const MIN_ORDINARY_INSIDE = 2;

/**
 * Lowers sentences in capitals and runs of at least three words in capitals. Words that no dictionary lists stay, and
 * so are spelled ("FBI").
 */
export function withoutShouting(traced: RewrittenText, isListed: IsListed): RewrittenText {
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
      : run.length >= MIN_INSIDE && ordinary >= MIN_ORDINARY_INSIDE;
  }

  function isWord(word: string, earlier: string, later: string): boolean {
    if (word === "I" || (word === "AM" && HOUR.test(earlier))) return false;
    if (AFTER_DETERMINER.has(word)) return !DETERMINER.test(earlier);
    if (word === "A") return ARTICLE_NEXT.test(later) && !LETTERED.test(earlier);
    return ALSO_INITIALS.has(word.toLowerCase()) || isOrdinary(word);
  }

  function isOrdinary(word: string): boolean {
    return word.length > 1 && isListed(word.toLowerCase()) && !isListed(word);
  }
}

const SMALL_WORD = withRanges(
  /(?:SO|NO|DO|GO|BE|ME|MY|WE|HE|UP|OF|BY|IF|AS|IS|TO|AN)(?![\p{L}\p{N}_'’.&/-])/uy,
);
const SMALL_BESIDE = withRanges(/\p{Ll} $/u);
const SMALL_BEHIND = withRanges(/^[,!?]?(?: \p{Ll}|$)/u);

/** "I am SO happy": a small word in capitals is stressed, not spelled. */
export const emphasis: TokenRule = (text, at) => {
  const match = matchAt(SMALL_WORD, text, at);
  if (match === null || !SMALL_BESIDE.test(before(text, at))) return null;
  const end = at + match[0].length;
  return SMALL_BEHIND.test(after(text, end)) ? { words: match[0].toLowerCase(), end } : null;
};

const SLIPPED = withRanges(/[A-Z]{2}[a-z]{1,20}(?![\p{L}\p{N}_@&/-])/uy);

/** "WIlliam", "THe": a second capital by a slip of the Shift key. */
export function slippedCapital(isListed: IsListed): TokenRule {
  return (text, at) => {
    const match = matchAt(SLIPPED, text, at);
    if (match === null) return null;
    const [word] = match;
    // "IDs" is a plural.
    if (isListed(word) || (word.length === 3 && word.endsWith("s"))) return null;
    const meant = capitalise(word);
    if (!isListed(meant) && !isListed(word.toLowerCase())) return null;
    return { words: meant, end: at + word.length };
  };
}

const LETTER = withRanges(/A(?![\p{L}\p{N}_+#°²³^-]|[.'’&]\p{L}|\. ?\p{Lu}\.| &)/uy);
/** Nouns that are followed by letters, after which "A" is no article. */
const NAMED_BY_LETTERS =
  "vitamin option plan terminal type grade point slot group team exit gate side hepatitis influenza " +
  "section series serie class schedule part appendix building bldg\\.? unit apartment apt\\.? suite " +
  "platform lane model variant version row zone tier box figure fig\\. exhibit column button block " +
  "wing concourse pier dock bay choice answer candidate company product sample party pool category " +
  "phase route track ward node vertex angle station note size cup table room hall lot form annex " +
  "attachment scenario pathway method test question panel key formula district";
const LETTERED = withRanges(`\\b${oneOf(NAMED_BY_LETTERS)} $`, "iu");
const THE =
  /\b(?:the|an|straight|either|letter|called|named|marked|labell?ed|of|is|are|was|got|minus|plus) $/u;
const WORD_BEFORE = withRanges(/[\p{L}\p{N}%]['’]?,? $/u);
const HEADING_NEXT = withRanges(/^ \p{Lu}\p{L}/u);
const INITIAL_NEXT = withRanges(/^\. \p{Lu}/u);
const NAME_BEFORE = withRanges(/\p{Lu}[\p{L}.'’]{0,30} $/u);
const SCALE_NEXT = /^ (?:Minor|Major|Flat|Sharp|Company|Block|Wing|League|Ward)\b/u;
const SCALE_BEFORE = /\b(?:in|of|from) $/iu;
const NO_WORD_NEXT = withRanges(/^(?:["”:)\]]|['’](?!\p{L})|$)/u);
const HYPHEN_BEFORE = withRanges(/\p{L}-$/u);

const VARIABLE = withRanges(
  /[aA](?= (?:={1,3}|!==?|[<>]=|[+*]) [\p{L}\p{N}(](?!\p{L})| [<>] \p{L}(?!\p{L}))/uy,
);

/**
 * A capital A within a sentence is the letter ("Option A or B"), unless it may be the article in a title ("Once Upon
 * A Time").
 */
export const letterA: TokenRule = (text, at) => {
  if (matchAt(VARIABLE, text, at) !== null) return { words: "eh", end: at + 1 };
  if (matchAt(LETTER, text, at) === null) return null;
  const earlier = before(text, at);
  if (HYPHEN_BEFORE.test(earlier)) return { words: "eh", end: at + 1 };
  const rest = after(text, at + 1);
  if (NO_WORD_NEXT.test(rest)) return { words: "eh", end: at + 1 };
  if (!WORD_BEFORE.test(earlier)) return null;
  if (INITIAL_NEXT.test(rest) && NAME_BEFORE.test(earlier) && !LETTERED.test(earlier)) return null;
  const isArticle =
    HEADING_NEXT.test(rest) &&
    !LETTERED.test(earlier) &&
    !THE.test(earlier) &&
    !(SCALE_NEXT.test(rest) && SCALE_BEFORE.test(earlier));
  return isArticle ? null : { words: "eh", end: at + 1 };
};

function isBeside(sentence: string, first?: RegExpExecArray, second?: RegExpExecArray): boolean {
  if (first === undefined || second === undefined) return false;
  return BETWEEN.test(sentence.slice(first.index + first[0].length, second.index));
}
