import { wordMap } from "../../characters.ts";
import { cardinalWords } from "../number-words.ts";
import { after, alternatives, before, matchAt, spoken, type TokenRule, withRanges } from "../rule.ts";

/** Citation forms of the books of the Bible, without their stop. */
const BOOKS = wordMap(
  "Gen Genesis,Ex Exodus,Exod Exodus,Lev Leviticus,Num Numbers,Deut Deuteronomy,Josh Joshua,Judg Judges,Sam Samuel," +
    "Kgs Kings,Chr Chronicles,Chron Chronicles,Neh Nehemiah,Ps Psalm,Pss Psalms,Prov Proverbs," +
    "Eccl Ecclesiastes,Eccles Ecclesiastes,Isa Isaiah,Jer Jeremiah,Lam Lamentations,Ezek Ezekiel,Dan Daniel,Hos Hosea," +
    "Obad Obadiah,Mic Micah,Nah Nahum,Hab Habakkuk,Zeph Zephaniah,Hag Haggai,Zech Zechariah,Mal Malachi,Matt Matthew," +
    "Mt Matthew,Mk Mark,Lk Luke,Jn John,Rom Romans,Cor Corinthians,Gal Galatians,Eph Ephesians,Phil Philippians," +
    "Col Colossians,Thess Thessalonians,Tim Timothy,Philem Philemon,Heb Hebrews,Jas James,Pet Peter,Rev Revelation",
);
/** Chapter and verse, unlike a time of day. */
export const VERSE_AHEAD = withRanges(/^ ?\d{1,3}:\d{1,3}(?![\p{L}\d:]| ?[ap]\.?m)/u);
/** Books in two or three parts, whose short forms need a number before them. */
const NUMBERED_BOOK = /^(?:Sam|Kgs|Chr|Chron|Cor|Thess|Tim|Pet)$/;
const NUMBER_LAST = /(?:[123]|First|Second|Third) $/u;
/** Books that are also first names. */
const ALSO_PEOPLE = /^(?:Dan|Josh|Matt|Phil|Gal)$/;
const CITES = /(?:^|[(;:,“"]|\b(?:in|see|read|cf\.|and|of|from)) ?$/iu;

/** Returns whether a short name before chapter and verse is a book. */
export function isBook(written: string, earlier: string): boolean {
  if (NUMBERED_BOOK.test(written)) return NUMBER_LAST.test(earlier);
  return BOOKS.has(written) && (!ALSO_PEOPLE.test(written) || CITES.test(earlier));
}

const NUMBERED = "Samuel|Kings|Chronicles|Corinthians|Thessalonians|Timothy|Peter|John|Maccabees";
const BOOK =
  "Genesis|Gen\\.|Exodus|Leviticus|Numbers|Deuteronomy|Joshua|Judges|Ruth|Ezra|Nehemiah|Esther|Job|Psalms?|Ps\\.|" +
  "Proverbs|Ecclesiastes|Isaiah|Jeremiah|Lamentations|Ezekiel|Daniel|Hosea|Joel|Amos|Obadiah|Jonah|Micah|Nahum|" +
  "Habakkuk|Zephaniah|Haggai|Zechariah|Malachi|Matthew|Mark|Luke|Acts|Romans|Galatians|Ephesians|Philippians|" +
  `Colossians|Titus|Philemon|Hebrews|James|Jude|Revelation|Sirach|Surah|Quran|Qur'an|${NUMBERED}`;
const SHORT = alternatives(BOOKS.keys());
export const AFTER_A_BOOK = new RegExp(`\\b(?:${BOOK}|(?:${SHORT})\\.?) $`, "u");
const SHORT_BOOK = new RegExp(`(${SHORT})(?:\\.(?! *$)|(?= ))`, "uy");
const VERSE = withRanges(/(\d{1,3}):(\d{1,3})(?: ?([-–,]) ?(\d{1,3}))?(?![\p{L}\p{N}:]| ?[ap]\.?m)/uy);
const BEFORE_A_BOOK = new RegExp(
  `([123]) (?=(?:${NUMBERED}|(?:Sam|Kgs|Chr|Chron|Cor|Thess|Tim|Pet|Jn)\\.?) \\d)`,
  "uy",
);
const ORDINALS = ["First ", "Second ", "Third "];

/** "John 3:16-18" → "three sixteen to eighteen", "1 Corinthians 13" → "First Corinthians 13". */
export const verse: TokenRule = (text, at) => {
  const book = matchAt(BEFORE_A_BOOK, text, at);
  if (book !== null) return spoken(book, ORDINALS[Number(book[1]) - 1] ?? "");
  if (!AFTER_A_BOOK.test(before(text, at))) return null;
  const match = matchAt(VERSE, text, at);
  if (match === null || /^:\d/u.test(after(text, at + match[0].length))) return null;
  const [, chapter = "", first = "", joint, last] = match;
  const more = last === undefined ? "" : `${joint === "," ? ", " : " to "}${cardinalWords(last)}`;
  return spoken(match, `${cardinalWords(chapter)} ${cardinalWords(first)}${more}`);
};

/** "Gen. 1:1", "Ps 23:1". */
export const book: TokenRule = (text, at) => {
  const match = matchAt(SHORT_BOOK, text, at);
  const name = BOOKS.get(match?.[1] ?? "");
  if (match === null || name === undefined || !isBook(match[1] ?? "", before(text, at))) return null;
  const end = at + match[0].length;
  return VERSE_AHEAD.test(after(text, end)) ? { words: name, end } : null;
};
