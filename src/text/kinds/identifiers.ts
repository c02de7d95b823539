import type { IsListed } from "./capitals.ts";
import { type Kind, matchAt, type Spoken, withRanges } from "./kind.ts";
import { cardinalWords, digitWords, numberWords } from "./numerals.ts";

/** How the endings of files are said. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ["json", "Jason"],
  ["doc", "doc"],
  ["docx", "doc X"],
  ["zip", "zip"],
  ["bat", "bat"],
  ["bin", "bin"],
  ["log", "log"],
  ["toml", "tommel"],
  ["yaml", "yaml"],
  ["ini", "I N I"],
  ["jpeg", "jay peg"],
  ["gif", "gif"],
  ["lock", "lock"],
  ["conf", "conf"],
  ["dart", "dart"],
  ["java", "java"],
  ["swift", "swift"],
  ["vue", "view"],
]);
const SPELLED: ReadonlySet<string> = new Set(
  (
    "pdf html htm md txt csv tsv xls xlsx ppt pptx odt rtf py js ts jsx tsx mjs cjs css scss c h cpp hpp cc cs rs go rb " +
    "php sh sql xml yml svg png jpg webp bmp ico mp3 mp4 wav ogg flac avi mkv mov tar gz tgz rar exe dll iso dmg apk ipa " +
    "env kt ipynb db bak tmp cfg"
  ).split(" "),
);
/** Words that are written without the space between them. */
const CLOSED: ReadonlyMap<string, string> = new Map([
  ["readme", "read me"],
  ["todo", "to do"],
  ["json", "Jason"],
  ["localhost", "local host"],
  ["usr", "user"],
  ["etc", "E T C"],
  ["net", "net"],
  ["img", "image"],
  ["nginx", "engine X"],
  ["tmp", "temp"],
  ["passwd", "pass W D"],
  ["src", "source"],
  ["youtu", "you tu"],
  ["bashrc", "bash R C"],
  ["gitignore", "git ignore"],
  ["dockerignore", "docker ignore"],
]);
/** Short names that no dictionary lists and that are words all the same. */
const SAID_SMALL: ReadonlySet<string> = new Set(
  "com org net gov edu dev app dom tmp lib bin var opt git vim nan foo bar baz qux ann".split(" "),
);
const NO_WORD = /^[^aeiouy]+$|q(?!u)|^(?:[bcdfgkpt][bdgkpqtvxz]|[jqvwxz][^aeiouyhr]|[lmnr][^aeiouy])/u;
const KEYS: ReadonlyMap<string, string> = new Map([
  ["ctrl", "control"],
  ["cmd", "command"],
  ["alt", "alt"],
  ["opt", "option"],
  ["option", "option"],
  ["shift", "shift"],
  ["win", "windows"],
  ["esc", "escape"],
  ["del", "delete"],
  ["fn", "function"],
  ["tab", "tab"],
  ["control", "control"],
  ["command", "command"],
  ["meta", "meta"],
  ["super", "super"],
]);
const CHORD = withRanges(
  /([A-Za-z]{2,7})(?:([+])([A-Za-z]{2,7}))?[+-]([A-Za-z]{1,9}|F\d{1,2}|\d)(?![\p{L}\p{N}_]|[+-]\p{L})/uy,
);
/** "F5", "B12": a letter and a short number. */
const NUMBERED = withRanges(/([A-Z])(\d{1,2})(?![\p{L}\p{N}_]|[.,'’:/+-]\p{N}|[-–](?:\p{L}|$))/uy);
/** "PM2.5", "USB3.1". */
const WITH_DECIMAL = withRanges(/([A-Z]{1,4})(\d{1,3}\.\d{1,2})(?![\p{L}\p{N}_]|[.,]\p{N})/uy);
const FUNCTION_OF = withRanges(/([fgh])\(([a-z])\)/uy);
const STOP_OF_LENS = /f\/(\d{1,2}(?:\.\d)?)(?!\d)/uy;
/** "B-": a mark at school. */
const GRADE = /([A-DF])-(?= (?:grades?|student|average|on|in|for|and|or)\b|[,.!?]|$)/uy;
const SHARP = withRanges(/([CFJA])#(?![\p{L}\p{N}])/uy);
const PLUSPLUS = withRanges(/([A-Za-z])\+\+(?![\p{L}\p{N}+])/uy);
const LETTER_DIGIT_LETTER = withRanges(/([A-Za-z])(\d)([A-Za-z])(?![\p{L}\p{N}])/uy);
const NAME = withRanges(/[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,10}(?:\(\))?(?![\p{L}\p{N}_])/uy);
const CAMEL = withRanges(/[a-z]{2,20}(?:[A-Z][a-z]{1,20}){1,8}(?:\(\))?(?![\p{L}\p{N}_])/uy);
const CALLED = withRanges(/(?:JSON|TODO|README)(?![\p{L}\p{N}_])/uy);
const PARTS = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/gu;

/** The words for a file's ending, or null where it is none. */
export function fileEnding(written: string): string | null {
  const ending = written.toLowerCase();
  return ENDINGS.get(ending) ?? (SPELLED.has(ending) ? spelled(written) : null);
}

/**
 * "getUserName" → "get User Name"; a short run of capitals is spelled, as is what nobody could say as a word ("nyc").
 */
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

/** Two or three small letters that are no word, and more where no word begins so. */
function isUnsayable(part: string, isListed: IsListed): boolean {
  if (!/^[a-z]{2,6}$/u.test(part) || SAID_SMALL.has(part) || isListed(part)) return false;
  return part.length < 4 || NO_WORD.test(part);
}

/** Names in code, keys pressed together, and languages with a sign: "max_retry_count", "Ctrl+C", "C#". */
export function identifiers(isListed: IsListed): Kind {
  return (text, at) => identifier(text, at, isListed);
}

function identifier(text: string, at: number, isListed: IsListed): Spoken | null {
  const called = matchAt(CALLED, text, at);
  if (called !== null)
    return { words: CLOSED.get(called[0].toLowerCase()) ?? "", end: at + called[0].length };
  const sharp = matchAt(SHARP, text, at);
  if (sharp !== null) return { words: `${sharp[1]} sharp`, end: at + sharp[0].length };
  const plus = matchAt(PLUSPLUS, text, at);
  if (plus !== null) return { words: `${plus[1]} plus plus`, end: at + plus[0].length };
  const grade = matchAt(GRADE, text, at);
  if (grade !== null) return { words: `${spelled(grade[1] ?? "")} minus`, end: at + grade[0].length };
  const numbered = text.charAt(at - 1) === "-" ? null : matchAt(NUMBERED, text, at);
  if (numbered !== null)
    return {
      words: `${spelled(numbered[1] ?? "")} ${pairOf(numbered[2] ?? "")}`,
      end: at + numbered[0].length,
    };
  const decimal = matchAt(WITH_DECIMAL, text, at);
  if (decimal !== null)
    return {
      words: `${spelled(decimal[1] ?? "")} ${numberWords(decimal[2] ?? "")}`,
      end: at + decimal[0].length,
    };
  const of = matchAt(FUNCTION_OF, text, at);
  if (of !== null) return { words: `${of[1]} of ${spelled(of[2] ?? "")}`, end: at + of[0].length };
  const lens = matchAt(STOP_OF_LENS, text, at);
  if (lens !== null) return { words: `F ${numberWords(lens[1] ?? "")}`, end: at + lens[0].length };
  const numeronym = matchAt(LETTER_DIGIT_LETTER, text, at);
  if (numeronym !== null) {
    const [whole, first = "", digit = "", last = ""] = numeronym;
    return { words: `${spelled(first)} ${digit} ${spelled(last)}`, end: at + whole.length };
  }
  const chord = matchAt(CHORD, text, at);
  if (chord !== null) {
    const keys = [chord[1], chord[3]].filter((key) => key !== undefined);
    if (keys.every((key) => KEYS.has(key.toLowerCase())) && !/^[A-Z]?[a-z]{3,}-[a-z]{2,}$/u.test(chord[0])) {
      const last = chord[4] ?? "";
      const names = keys.map((key) => KEYS.get(key.toLowerCase()) ?? key);
      return {
        words: [...names, KEYS.get(last.toLowerCase()) ?? keyName(last)].join(" plus "),
        end: at + chord[0].length,
      };
    }
  }
  const name = matchAt(NAME, text, at);
  if (name !== null)
    return { words: identifierWords(name[0].replace("()", ""), isListed), end: at + name[0].length };
  const camel = matchAt(CAMEL, text, at);
  return camel === null
    ? null
    : { words: identifierWords(camel[0].replace("()", "")), end: at + camel[0].length };
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

/** Letter by letter; "eh" is the letter A, which by itself would be the article. */
export function spelled(letters: string): string {
  return Array.from(letters.toUpperCase(), (letter) => (letter === "A" ? "eh" : letter)).join(" ");
}
