import type { NormaliserTables } from "../../tables/text-tables.ts";
import { ordinal, romanValue } from "../number-words.ts";
import {
  after,
  alternatives,
  before,
  isWordCharacter,
  matchAt,
  oneOf,
  type TokenRule,
  withRanges,
} from "../rule.ts";

const NUMERAL =
  "((?=[IVXLC])(?:CM|CD|C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))(?![\\p{L}\\p{N}_]|\\.[\\p{L}\\p{N}])";
/** Rulers missing from the voice's list. */
const RULERS =
  "Gregory Francis Innocent Clement Urban Felipe Carlos Harald Haakon Xerxes Darius Ptolemy Cleopatra Wilhelm Otto Rudolf Selim Mehmed Leopold Constantine Theodosius Baldwin".split(
    " ",
  );
/** A lone I before these is a numeral, not the pronoun. */
const NO_PRONOUN = withRanges(
  /^(?:[^\p{L}\p{N} '’]|$| (?:of|has|is|begins?|ends?|opens?|starts?|shows|covers|describes)(?!\p{L}))/u,
);
const AFTER_A_CHAPTER = withRanges(
  /^(?:[^\p{L}\p{N} '’]|$| (?:of|in|is|was|and|or|to|has|had|begins?|ends?|opens?|starts?|shows|covers|describes|deals)(?!\p{L}))/u,
);
const REIGN_VERBS =
  "died reigned ruled became had came issued founded married remarried succeeded inherited " +
  "abdicated ascended conquered crowned defeated executed invaded granted persecuted commissioned " +
  "signed ordered established faced fought";
const REIGNED = `(?:(?:never|also|later|then|soon|first|finally|eventually) )?${oneOf(REIGN_VERBS)}`;
const AFTER_A_RULER = withRanges(
  `^(?:[^\\p{L}\\p{N} ']|$| (?:and|or|of|was|is|in|${REIGNED})(?!\\p{L}))`,
  "u",
);
const RULER_BEFORE = withRanges(
  /(?:King|Queen|Pope|Tsar|Emperor|Empress|Kaiser|Prince|Saint|St\.|Sultan|Shah) (?:\p{Lu}\p{L}+ )?$/u,
);
/** After these a lone I is a numeral, unless a verb of the first person follows. */
const ALWAYS_NUMBERED =
  /^(?:Chapter|Act|Scene|Section|Volume|Phase|Article|World War|Super Bowl|Episode|Stage|Title)$/u;
const PRONOUN_VERB =
  /^(?:['’]| (?:am|have|had|like|liked|love|loved|bought|think|want|wanted|need|know|do|did|would|will|can|could|use|used|read|wrote|saw|made|told|said|mean|found|just|never|always)\b)/u;
const NO_POSSESSIVE = withRanges(/^['’](?!s(?!\p{L}))/u);

/** "Act I" → "Act 1", "Henry VIII" → "Henry the eighth". */
export function romanNumerals(tables: NormaliserTables): TokenRule {
  const chapters = withRanges(`(${alternatives([...tables.romanCardinal, "Title"])}) ${NUMERAL}`, "yu");
  const rulers = withRanges(`(${alternatives([...tables.romanOrdinal, ...RULERS])}) ${NUMERAL}`, "yu");
  return (text, at) => {
    const chapter = matchAt(chapters, text, at);
    const match = chapter ?? matchAt(rulers, text, at);
    if (match === null) return null;
    const [whole, word = "", numeral = ""] = match;
    const end = at + whole.length;
    const isNumeral =
      numeral === "I" ? isFirst(text, at, end, word, chapter !== null) : isLong(text, end, numeral);
    if (!isNumeral || numeral === "") return null;
    const value = romanValue(numeral);
    return { words: `${word} ${chapter === null ? `the ${ordinal(value)}` : value}`, end };
  };
}

function isFirst(text: string, at: number, end: number, word: string, isChapter: boolean): boolean {
  const rest = after(text, end);
  if (!isChapter) return AFTER_A_RULER.test(rest) || RULER_BEFORE.test(before(text, at));
  if (ALWAYS_NUMBERED.test(word)) return !PRONOUN_VERB.test(rest);
  return /^[a-z]/u.test(word) ? NO_PRONOUN.test(rest) : AFTER_A_CHAPTER.test(rest);
}

/** C and L are mostly letters; a possessive may follow a ruler's number. */
function isLong(text: string, end: number, numeral: string): boolean {
  if (numeral === "C" || numeral === "L" || isWordCharacter(text.charAt(end))) return false;
  return !NO_POSSESSIVE.test(after(text, end));
}
