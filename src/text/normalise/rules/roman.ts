import { wordSet } from "../../characters.ts";
import type { NormaliserTables } from "../../tables/text-tables.ts";
import { ordinal, romanValue } from "../number-words.ts";
import { after, alternatives, before, matchAt, oneOf, type TokenRule, withRanges } from "../rule.ts";

const UPPER = "(?=[IVXLC])(?:CM|CD|C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})";
/** Without c and l at the beginning, which are letters: "section c". */
const LOWER = "(?=[ivx])(?:x[cl]|x{0,3})(?:ix|iv|v?i{0,3})";
const NO_MORE_LETTERS = "(?![\\p{L}\\p{N}_]|\\.[\\p{L}\\p{N}])";
const NUMERAL = withRanges(`(${UPPER}|${LOWER})(?:(?:th|st|nd|rd)(?= ))?${NO_MORE_LETTERS}`, "uy");
const JOINT = "(?:\\)?, (?:and |or )?|\\)? (?:and|or|to|through|&) |\\)? ?[-–] ?)\\(?";
const MORE_NUMERALS = `(?:\\(?(?:${UPPER}|${LOWER})${JOINT}){0,4}`;
const ANOTHER_NEXT = withRanges(
  `^${JOINT}(?:[IVX]{2}|[VX]|[ivx]{2}|[vx])[IVXivx]{0,6}${NO_MORE_LETTERS}`,
  "u",
);
const TO_ANOTHER = withRanges(`^ ?[-–] ?(?=(?:[IVX]{1,7}|[ivx]{1,7})${NO_MORE_LETTERS})`, "u");
/** Headings missing from the voice's list, which numbers follow: "Act X". */
const NUMBERED = "act scene title psalm canto amendment factor clause appendix WrestleMania Vatican";
/** Headings that letters follow as well: "Figure X". */
const LETTERED =
  "paragraph subparagraph subsection page annex schedule exhibit figure table plate verse item note footnote " +
  "lesson unit module division group category tier rule step season sonnet question problem theorem lemma " +
  "proposition corollary example case stanza tome column line number point symphony sonata concerto edition " +
  "[Pp]p?\\. [Vv]ols?\\. [Cc]h(?:ap)?s?\\. [Ss]ecs?\\. [Aa]rts?\\. [Ff]igs?\\. [Nn]os?\\. [Pp]aras?\\. [Aa]pp\\. [Pp]ts?\\. " +
  "[Bb]ks?\\. [Cc]l\\. §";
/** Rulers missing from the voice's list. */
const RULERS =
  "Gregory Francis Innocent Clement Urban Felipe Carlos Harald Haakon Xerxes Darius Ptolemy Cleopatra Wilhelm Otto Rudolf " +
  "Selim Mehmed Leopold Constantine Theodosius Baldwin Sixtus Boniface Callixtus Adrian Hadrian Eugene Julius Alfonso " +
  "Casimir Ludwig Murad Osman Pedro Rama Ramesses Sigismund Thutmose Amenhotep Antiochus Artaxerxes Olaf Olav Margrethe";
/** Rulers whose names are common: "Michael I was" needs a title before. */
const COMMON_RULERS = wordSet(
  "John Paul Stephen Martin Mary Margaret Michael Robert David Joseph Harold Eric Erik Carl Karl Luis Juan Manuel " +
    "Simon Simeon Andrew Basil Edmund Mohammed Hassan Hussein Abdullah Joan Anne",
);
const ORDERED_NEXT = withRanges(
  `^(?:(?: and | or | to | ?[-–] ?)[IVX]{1,7}(?:th|st)?)? (?:[Cc]entury|[Cc]enturies|Amendment|Olympiad|Olympic|[Dd]ynasty|Corps|Legion|Congress)(?!\\p{L})`,
  "u",
);
const CONTENT_VERBS = "begins?|ends?|opens?|starts?|shows|covers|describes";
/** A lone I before these is a numeral, not the pronoun. */
const NO_PRONOUN = withRanges(
  `^(?:[^\\p{L}\\p{N} '’]|$| (?:of|has|is|${CONTENT_VERBS}|scene)(?!\\p{L}))`,
  "u",
);
const AFTER_A_CHAPTER = withRanges(
  `^(?:[^\\p{L}\\p{N} '’]|$| (?:of|in|is|was|and|or|to|has|had|${CONTENT_VERBS}|deals)(?!\\p{L}))`,
  "u",
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
  /^(?:Chapter|Act|Scene|Section|Volume|Phase|Article|World War|Super Bowl|Episode|Stage|Title|Type)$/u;
const PRONOUN_VERB =
  /^(?:['’]| (?:am|have|had|like|liked|love|loved|bought|think|want|wanted|need|know|do|did|would|will|can|could|use|used|read|wrote|saw|made|told|said|mean|found|just|never|always)\b)/u;
/** "I've", unlike "Act I's". */
const CONTRACTED = withRanges(/^['’](?!s(?!\p{L}))/u);

/** "Act I" → "Act 1", "Henry VIII" → "Henry the eighth", "the XIX century", "pages ix to xii", "(ii)". */
export function romanNumerals(tables: NormaliserTables): TokenRule {
  const numbered = `${alternatives(tables.romanCardinal)}|${anyCase(NUMBERED)}`;
  const chapters = withRanges(
    `(?<![\\p{L}\\p{N}])(?:(${numbered})|${anyCase(LETTERED)})s? ${MORE_NUMERALS}\\(?$`,
    "u",
  );
  const rulers = withRanges(
    `(?<!\\p{L})(${alternatives([...tables.romanOrdinal, ...RULERS.split(" "), ...COMMON_RULERS])}) $`,
    "u",
  );
  return (text, at) => {
    const match = matchAt(NUMERAL, text, at);
    const [whole = "", numeral = ""] = match ?? [];
    if (match === null || numeral === "" || CONTRACTED.test(after(text, at + whole.length))) return null;
    const end = at + whole.length;
    const [earlier, rest] = [before(text, at), after(text, end)];
    const value = romanValue(numeral.toUpperCase());
    const isSmall = numeral === numeral.toLowerCase();
    if (/^[CL]$/u.test(numeral)) return null;
    if (!isSmall && numeral !== "I" && ORDERED_NEXT.test(rest)) return { words: ordinal(value), end };
    const [reference, heading] = chapters.exec(earlier) ?? [];
    if (reference !== undefined && isReference(numeral, rest, heading, earlier.endsWith("("))) {
      const to = TO_ANOTHER.exec(rest)?.[0] ?? "";
      return { words: `${value}${to === "" ? "" : " to "}`, end: end + to.length };
    }
    if (isSmall) return isEnumeration(numeral, earlier, rest) ? { words: `${value}`, end } : null;
    const ruler = rulers.exec(earlier)?.[1];
    if (ruler === undefined || whole !== numeral) return null;
    const isCertain = RULER_BEFORE.test(before(text, at - ruler.length - 1));
    if (COMMON_RULERS.has(ruler) && numeral.length === 1 && !isCertain) return null;
    if (numeral === "I" && !isCertain && !AFTER_A_RULER.test(rest)) return null;
    return { words: `the ${ordinal(value)}`, end };
  };
}

/** Returns a pattern of words whose first letter may be a capital. */
function anyCase(words: string): string {
  return words
    .replace(/(?<=^| )[a-z]/gu, (letter) => `[${letter.toUpperCase()}${letter}]`)
    .replaceAll(" ", "|");
}

/**
 * Returns whether a numeral after a heading is a number, and not the pronoun or a letter.
 *
 * @param heading the word before, if it is one that numbers follow more often than letters
 */
function isReference(numeral: string, rest: string, heading = "", isInBrackets = false): boolean {
  if (/^x$/iu.test(numeral)) return isInBrackets || (numeral === "X" && heading !== "");
  if (isInBrackets || !/^i$/iu.test(numeral) || ANOTHER_NEXT.test(rest)) return true;
  if (numeral === "i" || heading === "") return NO_PRONOUN.test(rest);
  if (ALWAYS_NUMBERED.test(heading)) return !PRONOUN_VERB.test(rest);
  return (/^[a-z]/u.test(heading) ? NO_PRONOUN : AFTER_A_CHAPTER).test(rest);
}

/** "(ii) the tenant", "Rule 5(i)", "§ 2(b)(iv)". */
function isEnumeration(numeral: string, earlier: string, rest: string): boolean {
  const isOpen = numeral.length > 1 || /\(i[ivx]\)/u.test(earlier + rest) ? /(?<!\p{L})\($/u : /[\d)]\($/u;
  return rest.startsWith(")") && isOpen.test(earlier);
}
