import { wordMap, wordSet } from "../../characters.ts";
import type { IsListed } from "../capitals.ts";
import { cardinalWords, digitWords, numberWords } from "../number-words.ts";
import {
  firstMatch,
  matchAt,
  patternRule,
  type Spoken,
  spoken,
  type TokenRule,
  withRanges,
} from "../rule.ts";

const ENDINGS = wordMap(
  "json Jason,doc doc,docx doc X,zip zip,bat bat,bin bin,log log,toml tommel,yaml yaml,ini I N I," +
    "jpeg jay peg,gif gif,lock lock,conf conf,dart dart,java java,swift swift,vue view",
);
const SPELLED = wordSet(
  "pdf html htm md txt csv tsv xls xlsx ppt pptx odt rtf py js ts jsx tsx mjs cjs css scss c h cpp hpp cc cs rs go rb " +
    "php sh sql xml yml svg png jpg webp bmp ico mp3 mp4 wav ogg flac avi mkv mov tar gz tgz rar exe dll iso dmg apk ipa " +
    "env kt ipynb db bak tmp cfg",
);
const CLOSED = wordMap(
  "id I D,ids I Ds,readme read me,todo to do,json Jason,localhost local host,usr user,etc E T C,net net,img image," +
    "nginx engine X,tmp temp,passwd pass W D,src source,youtu you tu,bashrc bash R C," +
    "gitignore git ignore,dockerignore docker ignore",
);
/** Short names that are words although no dictionary lists them. */
const SAID_SMALL = wordSet(
  "com org net gov edu dev app dom tmp lib bin var opt git vim nan foo bar baz qux ann",
);
const NO_WORD = /^[^aeiouy]+$|q(?!u)|^(?:[bcdfgkpt][bdgkpqtvxz]|[jqvwxz][^aeiouyhr]|[lmnr][^aeiouy])/u;
const KEYS = wordMap(
  "ctrl control,cmd command,alt alt,opt option,option option,shift shift,win windows,esc escape," +
    "del delete,fn function,tab tab,control control,command command,meta meta,super super",
);
const CHORD = withRanges(
  /([A-Za-z]{2,7})(?:([+])([A-Za-z]{2,7}))?[+-]([A-Za-z]{1,9}|F\d{1,2}|\d)(?![\p{L}\p{N}_]|[+-]\p{L})/uy,
);
const NUMBERED = withRanges(/(?<!-)([A-Z])(\d{1,2})(?![\p{L}\p{N}_]|[.,'’:/+-]\p{N}|[-–](?:\p{L}|$))/uy);
const WITH_DECIMAL = withRanges(/([A-Z]{1,4})(\d{1,3}\.\d{1,2})(?![\p{L}\p{N}_]|[.,]\p{N})/uy);
/** Chess in algebraic notation, where a sign shows that it is: "Qxd7#", "exd5", "Nf3+". */
const CHESS = withRanges(
  /(?=[KQRBNa-h1-8]{1,5}[x+#])([KQRBN]|[a-h](?=x))([a-h]?[1-8]?)(x?)([a-h])([1-8])([+#]?)(?![\p{L}\p{N}_])/uy,
);
const CHESS_WORDS = wordMap("K king,Q queen,R rook,B bishop,N knight,x takes,+ check,# checkmate");
const FUNCTION_OF = withRanges(/([fgh])\(([a-z])\)/uy);
const STOP_OF_LENS = /f\/(\d{1,2}(?:\.\d)?)(?!\d)/uy;
/** A school grade: "B-". */
const GRADE = /([A-DF])-(?= (?:grades?|student|average|on|in|for|and|or)\b|[,.!?]|$)/uy;
const SHARP = withRanges(/([CFJA])#(?![\p{L}\p{N}])/uy);
const PLUSPLUS = withRanges(/([A-Za-z])\+\+(?![\p{L}\p{N}+])/uy);
const LETTER_DIGIT_LETTER = withRanges(/([A-Za-z])(\d)([A-Za-z])(?![\p{L}\p{N}])/uy);
const NAME = withRanges(/[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,10}(?:\(\))?(?![\p{L}\p{N}_])/uy);
const CAMEL = withRanges(/[a-z]{2,20}(?:[A-Z][a-z]{1,20}){1,8}(?:\(\))?(?![\p{L}\p{N}_])/uy);
const CALLED = withRanges(/(?:JSON|TODO|README)(?![\p{L}\p{N}_])/uy);
const PARTS = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/gu;

export function fileEnding(written: string): string | null {
  const ending = written.toLowerCase();
  return ENDINGS.get(ending) ?? (SPELLED.has(ending) ? spelled(written) : null);
}

/** "getUserName" → "get User Name". Short runs of capitals and unpronounceable parts ("nyc") are spelled. */
export function identifierWords(name: string, isListed: IsListed = () => true): string {
  const isShouted = /^[A-Z\d_]*_[A-Z\d_]*$/u.test(name);
  return (name.match(PARTS) ?? [name])
    .map((part) => {
      const closed = CLOSED.get(part.toLowerCase());
      if (closed !== undefined) return closed;
      if (isShouted && part.length > 2 && isListed(part.toLowerCase())) return part.toLowerCase();
      return isSpelled(part) || part === "a" || isUnsayable(part, isListed) ? spelled(part) : part;
    })
    .join(" ");
}

function isUnsayable(part: string, isListed: IsListed): boolean {
  if (!/^[a-z]{2,6}$/u.test(part) || SAID_SMALL.has(part) || isListed(part)) return false;
  return part.length < 4 || NO_WORD.test(part);
}

/** "max_retry_count", "Ctrl+C", "C#". */
export function identifiers(isListed: IsListed): TokenRule {
  const kinds: readonly TokenRule[] = [
    ...LETTERS_AND_SIGNS,
    chord,
    patternRule(NAME, ([name]) => identifierWords(name.replace("()", ""), isListed)),
    patternRule(CAMEL, ([name]) => identifierWords(name.replace("()", ""))),
  ];
  return (text, at) => firstMatch(kinds, text, at);
}

const LETTERS_AND_SIGNS: readonly TokenRule[] = [
  patternRule(CHESS, ([, ...signs]) =>
    signs
      .map((sign) => CHESS_WORDS.get(sign) ?? sign.replace(/\p{L}/u, spelled))
      .join(" ")
      .trim(),
  ),
  patternRule(CALLED, ([name]) => CLOSED.get(name.toLowerCase()) ?? ""),
  patternRule(SHARP, ([, letter]) => `${letter} sharp`),
  patternRule(PLUSPLUS, ([, letter]) => `${letter} plus plus`),
  patternRule(GRADE, ([, letter = ""]) => `${spelled(letter)} minus`),
  patternRule(NUMBERED, ([, letter = "", digits = ""]) => `${spelled(letter)} ${pairOf(digits)}`),
  patternRule(WITH_DECIMAL, ([, letters = "", number = ""]) => `${spelled(letters)} ${numberWords(number)}`),
  patternRule(FUNCTION_OF, ([, name, variable = ""]) => `${name} of ${spelled(variable)}`),
  patternRule(STOP_OF_LENS, ([, number = ""]) => `F ${numberWords(number)}`),
  patternRule(
    LETTER_DIGIT_LETTER,
    ([, first = "", digit = "", last = ""]) => `${spelled(first)} ${digit} ${spelled(last)}`,
  ),
];

function chord(text: string, at: number): Spoken | null {
  const match = matchAt(CHORD, text, at);
  if (match === null || /^[A-Z]?[a-z]{3,}-[a-z]{2,}$/u.test(match[0])) return null;
  const keys = [match[1], match[3]].filter((key) => key !== undefined);
  if (!keys.every((key) => KEYS.has(key.toLowerCase()))) return null;
  const last = match[4] ?? "";
  const names = keys.map((key) => KEYS.get(key.toLowerCase()) ?? key);
  return spoken(match, [...names, KEYS.get(last.toLowerCase()) ?? keyName(last)].join(" plus "));
}

/** "5" → "five", "05" → "zero five". */
function pairOf(digits: string): string {
  return digits.length > 1 && digits.startsWith("0") ? digitWords(digits) : cardinalWords(digits);
}

function keyName(key: string): string {
  return /^F\d+$/u.test(key) ? `F ${key.slice(1)}` : key.length === 1 ? key.toUpperCase() : key;
}

function isSpelled(part: string): boolean {
  return /^(?:[A-Z]{2,4}|Id|Url|Http|Api|Html|Xml|Ui|Db)$/u.test(part);
}

/** Spells letters. "eh" is the letter A; a lone A would be read as the article. */
export function spelled(letters: string): string {
  return Array.from(letters.toUpperCase(), (letter) => (letter === "A" ? "eh" : letter)).join(" ");
}
