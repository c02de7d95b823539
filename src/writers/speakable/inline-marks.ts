import { withoutLinks, withoutUnderscores } from "./paired-marks.ts";
import { isStageDirection } from "./stage-directions.ts";

/** Stands for what was taken out, until it is known what is around it. No text holds it: it is removed from the input. */
export const GAP = "\ue000";

/**
 * Removes tags, notes, stage directions and the marks of links, stress and mathematics.
 *
 * @param previous the sentence before; `null` keeps directions
 */
export function withoutInlineMarks(text: string, previous: string | null): string {
  let plain = withoutLinks(text.replace(COMMENT, GAP).replace(TEMPLATE_TOKEN, GAP).replace(AUTOLINK, "$1"));
  plain = withoutTags(plain.replace(NOTE, GAP));
  if (previous !== null && !/:\W*$/.test(previous)) {
    for (const pattern of [STAR, PARENTHESES, BRACKETS]) plain = withoutDirections(plain, pattern);
    plain = withoutUnderscores(plain, (whole, marks, inside, offset) =>
      marks.length === 1 && isDirection(plain, whole, inside, offset) ? GAP : whole,
    );
  }
  plain = plain.replace(BRACKETED_WORDS, "$1");
  for (let depth = 0; depth < 3; depth++) {
    plain = plain.replace(STAR, "$1").replace(STARS, "$2");
    plain = withoutUnderscores(plain, (_whole, _marks, inside) => inside);
  }
  return withoutMathMarks(
    plain
      .replace(STRUCK, "$1")
      .replace(MARKED, "$1")
      .replace(/~~|`/g, "")
      .replace(OPENING_MARK, "")
      .replace(CLOSING_MARK, ""),
  );
}

/** What a backslash keeps from being a mark, as it is meant. */
export const ESCAPED = /\\([*_#`~|[\]{}<>!+.\-()$%&])/g;

/** What TeX's brackets of a formula enclose. */
export const FORMULA = /\\\(((?:[^\\]|\\(?![()]))+)\\\)|\\\[((?:[^\\]|\\(?![[\]]))+)\\\]/g;

const COMMENT = /<!--.*?-->/g;
/** With the role of the turn that it begins. */
const TEMPLATE_TOKEN =
  /(?:<\|\w{1,40}\|>|<(?:start|end)_of_turn>)(?:(?:assistant|user|model)(?=[\s<]|$))?|<\/s>|<<\/?SYS>>|\[\/?INST\]/g;
/** Around an address, which was put aside. */
const AUTOLINK = /<(?:mailto:)?(\ue001[\ue100-\uf8ff])>/g;
/** Numbers of notes: `[^1]`, `【4†source】`, and `[1]` directly after a sentence or a quotation. */
const NOTE = /(?<=\S)\[\^\d{1,3}\]|【\d{1,3}†[^】]{0,40}】|(?<=[.!?”"])(?:\[\d{1,3}\])+(?=\s|$)/g;
const PARENTHESES = /\(([^()]{1,60})\)/g;
const BRACKETS = /(?<![\w\])])\[([^[\]]{1,60})\](?!\()/g;
const BRACKETED_WORDS = /(?<![\w\])])\[(?=[^\p{L}[\]\d,;=]*\p{L})([^[\]\d=]*)\]/gu;
const STRUCK = /~~(?=\S)([^~]+)~~/g;
const MARKED = /(?<=^|\s)==(?=\S)([^=]+?)(?<=\S)==(?=$|[\s.,!?])/g;
/** A single star at a digit, a hash or a letter is part of a code: "*21*079#". */
const STAR = /(?<![\p{L}\p{N}#*\\])\*(?=[^\s*\d#])([^*\n]*[^\s*\\#])\*(?![\p{N}#*])/gu;
const STARS = /(?<![\p{L}\p{N}*\\])(\*{2,3})(?=[^\s*])([^*\n]*[^\s*\\])\1(?![\p{N}*])/gu;
/** Marks of a pair that was cut apart. */
const OPENING_MARK =
  /(?<=^|[\s("“'])(?:\*{1,3}(?=[\p{L}"“'(])|\*{2,3}(?=\p{N})|_{1,3}(?=[\p{L}\p{N}"“'(]))/gu;
const CLOSING_MARK =
  /(?<=\p{L}{2}|[.,!?…:"”'’)]|[\p{L}\p{N}#](?=[*_]{2}(?![*_])))(?:\*{1,3}|_{1,3})(?=$|[\s.,!?;:)"”])/gu;

function withoutDirections(text: string, pattern: RegExp): string {
  return text.replace(pattern, (whole: string, phrase: string, offset: number) =>
    isDirection(text, whole, phrase, offset) ? GAP : whole,
  );
}

function isDirection(text: string, whole: string, phrase: string, offset: number): boolean {
  const end = offset + whole.length;
  const before = text.slice(Math.max(0, offset - AROUND), offset).replaceAll(/[*_\ue000]+/g, "");
  return isStageDirection(phrase, before, text.slice(end, end + AROUND).replaceAll(GAP, ""));
}

/** Characters of context: to look at all of it for each mark would take quadratic time. */
const AROUND = 80;

function withoutTags(text: string): string {
  return text.replace(TAG, (whole: string, slash: string, inside: string, offset: number) => {
    const name = TAG_NAME.exec(inside)?.[1]?.toLowerCase();
    if (name !== undefined && TAG_NAMES.has(name)) {
      if (isSpokenOf(text, offset, offset + whole.length, name)) return whole;
      return INLINE.has(name) ? "" : GAP;
    }
    // "x < 5 and y > 3", "List<String>"; but "<your city>".
    if (!WORDS.test(inside) || /\w$/.test(text.slice(0, offset))) return whole;
    return slash === "" ? inside : GAP;
  });
}

/** Whether a sentence names the tag and does not use it: "the <b> tag". */
function isSpokenOf(text: string, start: number, end: number, name: string): boolean {
  const after = text.slice(end, end + AROUND);
  if (after.toLowerCase().includes(`</${name}>`)) return false;
  return (
    TAG_NOUN.test(after) ||
    (NAMES_TAG.test(text.slice(Math.max(0, start - 12), start)) && /^ [a-z]/.test(after))
  );
}

const TAG_NOUN = /^ (?:tags?|elements?|attributes?|markup)\b/i;
const NAMES_TAG = /\b(?:the|an?|each|every|any|this|that|your|use|using) $/i;
const TAG = /<(\/?)([^<>]{1,300})>/g;
const TAG_NAME = /^([a-z][a-z\d:-]*)(?:\s+[\w:-]+\s*=[^<>]*)?\s*\/?$/i;
const WORDS = /^\p{L}[\p{L} '’_-]*$/u;
const INLINE: ReadonlySet<string> = new Set(
  "a b code del em font i ins kbd mark prosody q s say-as small span strike strong sub sup u voice".split(
    " ",
  ),
);
const TAG_NAMES: ReadonlySet<string> = new Set([
  ...INLINE,
  ..."blockquote body br break details div h1 h2 h3 h4 h5 h6 head hr html img li ol p pre speak summary table tbody td th thead tr ul".split(
    " ",
  ),
]);

/** TeX's brackets around formulas, and its commonest words as signs. */
function withoutMathMarks(text: string): string {
  if (!/[\\$]/.test(text)) return text;
  return text
    .replace(
      ENVIRONMENT,
      (_whole, formula: string) => `${GAP}${formula.replace(/\\\\/g, ",").replaceAll("&", "")}${GAP}`,
    )
    .replace(/\\(?:begin|end)\{[a-z]{1,16}\*?\}/gi, GAP)
    .replaceAll("$$", "")
    .replace(/(?<![\w$])\$(?=[^\s\d$])([^$]{0,80}[^\s$])\$(?!\w)/g, "$1")
    .replace(/\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}/g, "$1/$2")
    .replace(/\\sqrt\{([^{}]*)\}/g, "√$1")
    .replace(/\\(?:text|mathrm|mathbf|textbf|textit|mbox)\{([^{}]*)\}/g, "$1")
    .replace(/\\([a-z]+)(?![a-z])/gi, (whole: string, name: string) => TEX_SIGNS[name] ?? whole);
}

const ENVIRONMENT = /\\begin\{[a-z]{1,16}\*?\}([^{}]*)\\end\{[a-z]{1,16}\*?\}/gi;
const TEX_SIGNS: Readonly<Record<string, string>> = {
  times: "×",
  cdot: "×",
  div: "÷",
  pm: "±",
  leq: "≤",
  le: "≤",
  geq: "≥",
  ge: "≥",
  neq: "≠",
  ne: "≠",
  approx: "≈",
  pi: "π",
  alpha: "α",
  beta: "β",
  theta: "θ",
  infty: "∞",
  to: "→",
  rightarrow: "→",
  degree: "°",
  circ: "°",
  ldots: "…",
  dots: "…",
  left: "",
  right: "",
  quad: " ",
};
