import { wordMap } from "../../characters.ts";
import type { IsListed } from "../capitals.ts";
import { cardinalWords, digitWords, nameWords } from "../number-words.ts";
import { before, isWordCharacter, matchAt, oneOf, spoken, type TokenRule, withRanges } from "../rule.ts";
import { COLOR } from "./codes.ts";
import { fileEnding, identifierWords } from "./identifiers.ts";

const DOMAINS =
  "com|org|net|edu|gov|mil|int|io|co|uk|de|fr|es|it|nl|ch|at|eu|ie|info|biz|us|ca|au|nz|jp|in|tv|me|ly|ai|app|dev|xyz|gg|cloud|" +
  "tech|shop|blog|news|museum|be|gl|fm|ac|to|cc|im|fi|se|no|dk|pl|pt|br|mx|kr|ru|cn|za|gr|sg|hk|tw|ph|" +
  "page|site|online|store|live|link|club|space|world|life|email|media|pro";
/** Domains that are also words, as in "tell.me" with a space missing. */
const ALSO_WORDS =
  /^[^.]+\.(?:me|us|co|de|ca|au|ly|fr|in|it|at|es|int|news|shop|blog|app|cloud|museum|tech|be|to|no|im|page|site|online|store|live|link|club|space|world|life|email|media|pro)$/i;
const SAID = wordMap(
  ". dot,@ at,/ slash,\\ backslash,- dash,_ underscore,? question mark,= equals,& and,# hash,+ plus," +
    "~ tilde,: colon,% percent",
);
const RUN = /[^\s"“”<>()[\]{},;]{1,400}/uy;
const TRAILING = /[.,;:!?'’*_~]+$/u;
const SCHEME = /^(?:https?|ftp|file|ssh|git|mailto):(?:\/\/)?/iu;
const MAIL = withRanges(/^[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,6}$/u);
const HOST = withRanges(`^(?:[\\p{L}\\p{N}-]{1,63}\\.){1,6}(?:${DOMAINS})(?::\\d{2,5})?(?:[/?#].*)?$`, "iu");
const LOCAL = /^localhost(?::\d{2,5})?(?:\/.*)?$/iu;
const PATH = withRanges(
  /^(?:(?:~|\.{1,2})?\/|[A-Za-z]:[/\\])[\p{L}\p{N}._~-]+(?:[/\\][\p{L}\p{N}._~-]+)*[/\\]?$/u,
);
const DEEP = withRanges(/^(?:[\p{L}\p{N}_.-]+\/){1,12}[\p{L}\p{N}_-]+\.[a-z]{1,5}\d?$/u);
const FILE = withRanges(/^[\p{L}\p{N}_-]{1,80}(?:\.[\p{L}\p{N}_-]{1,40}){0,4}\.[A-Za-z0-9]{1,7}$/u);
const HANDLE = withRanges(/^@[A-Za-z_][\p{L}\p{N}_.]{0,40}$/u);
const HASHTAG = withRanges(/^#[\p{L}_][\p{L}\p{N}_]{0,80}$/u);
const DOTFILE = withRanges(/^\.[A-Za-z][\p{L}\p{N}_-]{1,30}$/u);
const PIECE = withRanges(/[\p{L}\p{N}]+|[^\p{L}\p{N}]/gu);

/** Web and mail addresses, files, paths, @names and #tags. */
export function electronicRule(isListed: IsListed): TokenRule {
  const label = (piece: string): string => identifierWords(piece, isListed);
  return (text, at) => {
    RUN.lastIndex = at;
    const run = RUN.exec(text)?.[0].replace(TRAILING, "") ?? "";
    if (run.length < 3 || !/[.@/\\#:]/u.test(run)) return null;
    if (DOTFILE.test(run) && !/^[\s(]?$/u.test(text.charAt(at - 1))) return null;
    const words = wordsOf(run, label);
    return words === null ? null : { words, end: at + run.length };
  };
}

type Label = (piece: string) => string;

function wordsOf(run: string, label: Label): string | null {
  const scheme = SCHEME.exec(run)?.[0];
  if (scheme !== undefined && run.length > scheme.length) return address(run.slice(scheme.length), label);
  if (MAIL.test(run)) return signBySign(run, label);
  if (LOCAL.test(run) || (HOST.test(run) && !ALSO_WORDS.test(run))) return address(run, label);
  if (PATH.test(run) && (/^[~.A-Za-z]/u.test(run) || run.length > 2))
    return signBySign(run.replace(/(?<=.)[/\\]$/u, ""), label);
  if (DEEP.test(run) && hasEnding(run)) return file(run, label);
  if (FILE.test(run) && hasEnding(run) && !/^\d+\.\d/u.test(run)) return file(run, label);
  if (DOTFILE.test(run)) return `dot ${fileEnding(run.slice(1)) ?? signBySign(run.slice(1), label)}`;
  if (HANDLE.test(run)) return `at ${signBySign(run.slice(1), label)}`;
  return HASHTAG.test(run) && !COLOR.test(run) ? `hashtag ${identifierWords(run.slice(1))}` : null;
}

/** "www" is spelled, "localhost" is two words. */
function address(written: string, label: Label): string {
  const bare = written
    .replace(/\/$/u, "")
    .replace(/^localhost/iu, "local host")
    .replace(/\.[A-Z]{2,6}$/u, (ending) => ending.toLowerCase());
  const said = signBySign(
    bare.replace(/:(\d{2,5})(?=\/|$)/u, (_match, port: string) => ` ${nameWords(port)} `),
    label,
  );
  return said.replace(/^www /iu, "W W W ");
}

function file(run: string, label: Label): string {
  const dot = run.lastIndexOf(".");
  return `${signBySign(run.slice(0, dot), label)} dot ${fileEnding(run.slice(dot + 1)) ?? ""}`;
}

/** "main.c", but not "D.C". */
function hasEnding(run: string): boolean {
  const ending = run.slice(run.lastIndexOf(".") + 1);
  const isSmall = ending === ending.toLowerCase();
  return fileEnding(ending) !== null && (isSmall || ending.length > 1) && run.length - ending.length > 2;
}

function signBySign(written: string, label: Label): string {
  return (written.match(PIECE) ?? [])
    .map((piece) => SAID.get(piece) ?? (isWordCharacter(piece.charAt(0)) ? label(piece) : piece))
    .join(" ")
    .replace(/ {2,}/gu, " ");
}

const DOTTED = withRanges(
  /([vV]\.? ?)?(\d{1,5}(?:\.\d{1,6}){1,4})(?:[-.]?(alpha|beta|rc|a|b)\.?(\d{1,3})?)?(?::(\d{2,5})|(?<=\d(?:\.\d{1,3}){3})\/(\d{1,2}))?(?![\p{L}\p{N}_]|\.\d)/uy,
);
const LONE = withRanges(/[vV](\d{1,4})(?![\p{L}\p{N}_.])/uy);
const VERSIONED =
  "versions? release ver\\.? build update firmware kernel python node(?:\\.js)? npm java php ruby " +
  "perl go golang rust swift kotlin scala typescript react angular vue django flask rails laravel " +
  "spring ios ipados macos watchos tvos android windows linux ubuntu debian fedora chrome chromium " +
  "firefox safari edge opera postgres(?:ql)? mysql mariadb sqlite redis mongodb docker kubernetes " +
  "git gcc clang cmake bash numpy pandas pytorch tensorflow cuda openssl nginx apache bluetooth usb " +
  "http tls gpt claude llama gemini";
const HAS_VERSIONS = new RegExp(`\\b${oneOf(VERSIONED)} $`, "iu");
const NO_NUMBER: ReadonlySet<string> = new Set(["a", "b", "rc"]);

/** "192.168.4.28", "v4.20" → "V four point twenty", "Python 3.10", "128.0.3". */
export const version: TokenRule = (text, at) => {
  const lone = matchAt(LONE, text, at);
  if (lone !== null) return spoken(lone, `V ${cardinalWords(lone[1] ?? "")}`);
  const match = matchAt(DOTTED, text, at);
  if (match === null) return null;
  const [whole, letter, numbers = "", stage, stageNumber, port, prefix] = match;
  const parts = numbers.split(".");
  const end = at + whole.length;
  if (
    parts.length === 4 &&
    letter === undefined &&
    stage === undefined &&
    parts.every((part) => Number(part) < 256)
  )
    return {
      words: `${parts.map(octet).join(" dot ")}${port === undefined ? "" : ` port ${nameWords(port)}`}${prefix === undefined ? "" : ` slash ${cardinalWords(prefix)}`}`,
      end,
    };
  const isVersion = letter !== undefined || parts.length > 2 || HAS_VERSIONS.test(before(text, at));
  if (!isVersion || port !== undefined || prefix !== undefined) return null;
  const said = parts.map(octet).join(" point ");
  const after =
    stage === undefined ? "" : ` ${NO_NUMBER.has(stage) ? stage.toUpperCase().split("").join(" ") : stage}`;
  const counted = stageNumber === undefined ? "" : ` ${cardinalWords(stageNumber)}`;
  return { words: `${letter === undefined ? "" : "V "}${said}${after}${counted}`, end };
};

/** "10" → "ten", "04" → "oh four", "192" → "one ninety two", "0" → "zero". */
function octet(digits: string): string {
  if (digits.length > 1 && digits.startsWith("0")) return digitWords(digits, "oh");
  return digits.length > 3 ? digitWords(digits) : nameWords(digits);
}
