import { light } from "./light.ts";
import { after, before, type Kind, matchAt } from "./spoken.ts";

const LETTER = light(/A(?![\p{L}\p{N}_+#°²³^-]|[.'’&]\p{L}|\. ?\p{Lu}\.| &)/uy);
/** What is told apart by letters, so that "A" behind it is no article whatever follows. */
const LETTERED = light(
  /\b(?:vitamin|option|plan|terminal|(?:blood )?type|grade|point|slot|group|team|exit|gate|side|hepatitis|influenza|section|series|serie|class|schedule|part|appendix|building|bldg\.?|unit|apartment|apt\.?|suite|platform|lane|model|variant|version|row|zone|tier|box|figure|fig\.|exhibit|column|button|block|wing|concourse|pier|dock|bay|choice|answer|candidate|company|product|sample|party|pool|category|phase|route|track|ward|node|vertex|angle|station|note|size|cup|table|room|hall|lot|form|annex|attachment|scenario|pathway|method|test|question|panel|key|formula|district) $/iu,
);
const THE =
  /\b(?:the|an|straight|either|letter|called|named|marked|labell?ed|of|is|are|was|got|minus|plus) $/u;
const WORD_BEFORE = light(/[\p{L}\p{N}%]['’]?,? $/u);
const HEADING_NEXT = light(/^ \p{Lu}\p{L}/u);
const INITIAL_NEXT = light(/^\. \p{Lu}/u);
const NAME_BEFORE = light(/\p{Lu}[\p{L}.'’]{0,30} $/u);
const SCALE_NEXT = /^ (?:Minor|Major|Flat|Sharp|Company|Block|Wing|League|Ward)\b/u;
const SCALE_BEFORE = /\b(?:in|of|from) $/iu;
/** No noun follows, so there is no article. */
const NO_WORD_NEXT = light(/^(?:["”:)\]]|['’](?!\p{L})|$)/u);
const HYPHEN_BEFORE = light(/\p{L}-$/u);

/** A variable between operators: "a === b", "a + 1". */
const VARIABLE = light(/[aA](?= (?:={1,3}|!==?|[<>]=|[+*]) [\p{L}\p{N}(](?!\p{L})| [<>] \p{L}(?!\p{L}))/uy);

/** Whether what ends here is told apart by letters: "Option", "Vitamin". */
export function isLettered(earlier: string): boolean {
  return LETTERED.test(earlier);
}

/**
 * A capital A within a sentence is the letter: "Option A or B", "from point A to point B". Before another capital it may
 * be the article of a title ("Once Upon A Time"), unless what stands before it goes by letters.
 */
export const letterA: Kind = (text, at) => {
  if (matchAt(VARIABLE, text, at) !== null) return { words: "eh", end: at + 1 };
  if (matchAt(LETTER, text, at) === null) return null;
  const earlier = before(text, at);
  if (HYPHEN_BEFORE.test(earlier)) return { words: "eh", end: at + 1 };
  const rest = after(text, at + 1);
  if (NO_WORD_NEXT.test(rest)) return { words: "eh", end: at + 1 };
  if (!WORD_BEFORE.test(earlier)) return null;
  if (INITIAL_NEXT.test(rest) && NAME_BEFORE.test(earlier) && !isLettered(earlier)) return null;
  const isArticle =
    HEADING_NEXT.test(rest) &&
    !isLettered(earlier) &&
    !THE.test(earlier) &&
    !(SCALE_NEXT.test(rest) && SCALE_BEFORE.test(earlier));
  return isArticle ? null : { words: "eh", end: at + 1 };
};
