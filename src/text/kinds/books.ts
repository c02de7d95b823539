import { light } from "./light.ts";

/** Books of the Bible as they are cited, without their stop, and in full. */
export const BOOKS: ReadonlyMap<string, string> = new Map(
  (
    "Gen Genesis,Ex Exodus,Exod Exodus,Lev Leviticus,Num Numbers,Deut Deuteronomy,Josh Joshua,Judg Judges,Sam Samuel," +
    "Kgs Kings,Chr Chronicles,Chron Chronicles,Neh Nehemiah,Ps Psalm,Pss Psalms,Prov Proverbs," +
    "Eccl Ecclesiastes,Eccles Ecclesiastes,Isa Isaiah,Jer Jeremiah,Lam Lamentations,Ezek Ezekiel,Dan Daniel,Hos Hosea," +
    "Obad Obadiah,Mic Micah,Nah Nahum,Hab Habakkuk,Zeph Zephaniah,Hag Haggai,Zech Zechariah,Mal Malachi,Matt Matthew," +
    "Mt Matthew,Mk Mark,Lk Luke,Jn John,Rom Romans,Cor Corinthians,Gal Galatians,Eph Ephesians,Phil Philippians," +
    "Col Colossians,Thess Thessalonians,Tim Timothy,Philem Philemon,Heb Hebrews,Jas James,Pet Peter,Rev Revelation"
  )
    .split(",")
    .map((book) => {
      const space = book.indexOf(" ");
      return [book.slice(0, space), book.slice(space + 1)] as const;
    }),
);
/** Chapter and verse, as behind a book; no time of day. */
export const VERSE_AHEAD = light(/^ ?\d{1,3}:\d{1,3}(?![\p{L}\d:]| ?[ap]\.?m)/u);
/** There are two of these or three, and the number says which. */
const NUMBERED = /^(?:Sam|Kgs|Chr|Chron|Cor|Thess|Tim|Pet)$/;
const NUMBER_LAST = /(?:[123]|First|Second|Third) $/u;
/** Books that are short names of people too. */
const ALSO_PEOPLE = /^(?:Dan|Josh|Matt|Phil|Gal)$/;
const CITES = /(?:^|[(;:,“"]|\b(?:in|see|read|cf\.|and|of|from)) ?$/iu;

/** Whether a name cut short is a book's, where chapter and verse follow it. */
export function isBook(written: string, earlier: string): boolean {
  if (NUMBERED.test(written)) return NUMBER_LAST.test(earlier);
  return BOOKS.has(written) && (!ALSO_PEOPLE.test(written) || CITES.test(earlier));
}
