import { withoutLinks, withoutUnderscores } from "./paired-marks.ts";
import { type DirectionMarks, isStageDirection, type PhraseContext } from "./stage-directions.ts";

/** Stands for what was taken out, until it is known what is around it. No text holds it: it is removed from the input. */
export const GAP = "\ue000";

/** Tags, links, notes, mathematical marks, directions and marks of stress, of which the words are kept that are meant. */
export function withoutInlineMarks(text: string): string {
  let plain = text.replace(COMMENT, GAP).replace(TEMPLATE_TOKEN, GAP).replace(AUTOLINK, "$1");
  plain = withoutLinks(plain).replace(NOTE, GAP);
  plain = withoutTags(plain);
  plain = withoutDirections(plain, PARENTHESES, "parentheses");
  plain = withoutDirections(plain, BRACKETS, "brackets");
  plain = plain.replace(BRACKETED_WORDS, "$1");
  for (let depth = 0; depth < 2; depth++) plain = plain.replace(ROW_OF_STARRED, joined);
  for (let depth = 0; depth < 3; depth++) plain = withoutStars(plain);
  return withoutMathMarks(
    plain.replace(STRUCK, "$1").replace(MARKED, "$1").replace(/~~|`/g, "").replace(LONE_MARKS, ""),
  );
}

/** What a backslash keeps from being a mark, as it is meant. */
export const ESCAPED = /\\([*_#`~|[\]{}<>!+.\-()$%&])/g;

/** What TeX's brackets of a formula enclose. */
export const FORMULA = /\\\(((?:[^\\]|\\(?![()]))+)\\\)|\\\[((?:[^\\]|\\(?![[\]]))+)\\\]/g;

const COMMENT = /<!--.*?(?:-->|$)/g;
/** With the role of the turn that it begins. */
const TEMPLATE_TOKEN =
  /(?:<\|[^|>]{0,40}\|>|<(?:start|end|begin)_of_\w{1,12}>)(?:(?:assistant|user|system|model|tool)(?=[\s<]|$))?|<\/s>|<<\/?SYS>>|\[\/?(?:INST|SYS|SEP|CLS|MASK|PAD|BOS|EOS|END|THINK)\]/g;
const AUTOLINK = /<(?:mailto:)?(https?:\/\/[^\s<>]+|[^\s<>@]+@[^\s<>@]+)>/g;
/** Notes' numbers, one or several, but where the sentence needs them: "see [1]", "note [1]". */
const NOTE =
  /\[\^[^\]]{1,20}\]|【[^】]{0,40}】|\[(?:citation needed|source|sources|\d{1,3}\u2020[^\]]{0,20})\]|(?<!^|\b(?:see|in|and|or|of|from|to|by|at|is|are|with|than|use|using|press|number|figure|fig\.|step|equation|(?:foot|end)?notes?|references?|refs?\.?|sources?|citations?|items?|entry|example|tables?|chapters?|sections?|pages?|lines?|options?|points?|parts?|rows?|columns?|keys?|buttons?|type|per)\s)(?<=[\s.,;!?"”)\]])\[\d{1,3}\](?:(?:, ?| and | ?[-–] ?| )?\[\d{1,3}\]){0,9}(?=$|[\s.,;:!?[])|(?<=\p{L}{4})(?:\[[1-9]\d?\])+(?=[.!?,;])/giu;
const PARENTHESES = /\(([^()]{1,80})\)/g;
const BRACKETS = /(?<![\w\])])[[{]([^[\]{}]{1,80})[\]}](?!\()/g;
const BRACKETED_WORDS = /(?<![\w\])])\[(?=[^\p{L}[\]\d,;=]*\p{L})([^[\]\d=]*)\]/gu;
const STRUCK = /~~(?=\S)([^~]+)~~/g;
const MARKED = /==(?=\S)([^=]+?)(?<=\S)==/g;
/** A pair of runs of as many stars, with none between: each run is looked at for the one before it alone. */
const STARRED = /(?<![*\\])(\*{1,3})(?=[^\s*])([^*\n]*[^\s*\\])\1(?!\*)/g;
/** "*smiles* and *waves*" */
const ROW_OF_STARRED =
  /(?<![*\w\\])\*([^\s*][^*\n]{0,59})\*(,? (?:and|then) |, | )\*([^\s*][^*\n]{0,59})\*(?![*\w])/g;
/** Of a pair that was cut apart. Between numbers and standing alone a star is a sign. */
const LONE_MARKS =
  /(?<![\d\s]|^)\*{2,3}(?=[\s.,!?;:)\p{L}]|$)|(?:(?<=^|[\s("“'])(?:\*{1,3}|_{1,3})(?=[\p{L}\p{N}"“'(]))|(?<=[\p{L}\p{N}.,!?…:"”'’)])(?:\*{1,3}|_{1,3})(?=$|[\s.,!?;:)"”])/gu;

function withoutDirections(text: string, pattern: RegExp, marks: DirectionMarks): string {
  return text.replace(pattern, (whole: string, phrase: string, offset: number) =>
    isStageDirection(phrase, marks, around(text, whole, offset)) ? GAP : whole,
  );
}

/** A row of actions as one. */
function joined(whole: string, first: string, between: string, second: string): string {
  const isRow = [first, second].every((phrase) => isStageDirection(phrase, "brackets", ALONE));
  return isRow ? `*${first}${between === " " ? ", " : between}${second}*` : whole;
}

function withoutStars(text: string): string {
  const stressed = text.replace(STARRED, (whole, marks: string, inside: string, offset: number) =>
    withoutStress(whole, marks, inside, around(text, whole, offset)),
  );
  return withoutUnderscores(stressed, (whole, marks, inside, offset) =>
    withoutStress(whole, marks, inside, around(stressed, whole, offset)),
  );
}

function withoutStress(
  whole: string,
  marks: string,
  inside: string,
  { before, after }: PhraseContext,
): string {
  const isSum =
    /[\p{L}\p{N})]$/u.test(before) && /^[\p{L}\p{N}(]/u.test(after) && !/^\p{L}{3,}$/u.test(inside);
  if (isSum) return whole;
  const phrase = marks.length === 1 || before === "" ? inside : "";
  return isStageDirection(phrase, "stars", { before, after }) ? GAP : inside;
}

/** The sentence to both sides, as it will be spoken and as far as a direction depends on it. */
function around(text: string, whole: string, offset: number): PhraseContext {
  const plain = (part: string) => part.replaceAll(/[*_#\ue000]+/g, "").trim();
  const end = offset + whole.length;
  const before = text.slice(Math.max(0, offset - AROUND), offset);
  const after = text.slice(end, end + AROUND);
  return {
    before: plain(before) === "" ? "" : before.replaceAll(GAP, ""),
    after: plain(after) === "" ? "" : after.replaceAll(GAP, "").replace(/^\s+/, (space) => space.slice(0, 1)),
  };
}

/** Characters. What is farther away decides nothing, and to look at all of it for each mark would take its square. */
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
    return slash !== "" || isStageDirection(inside, "brackets", ALONE) ? GAP : inside;
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
const ALONE = { before: "", after: "" };
const TAG = /<(\/?)([^<>]{1,300})>/g;
const TAG_NAME = /^([a-z][a-z\d:-]*)(?:\s+[\w:-]+\s*=[^<>]*)?\s*\/?$/i;
const WORDS = /^\p{L}[\p{L} '’_-]*$/u;
const INLINE: ReadonlySet<string> = new Set(
  "a abbr b big bdi bdo cite code del dfn em emphasis font i ins kbd mark phoneme prosody q s say-as samp small span strike strong sub sup tt u var wbr".split(
    " ",
  ),
);
const TAG_NAMES: ReadonlySet<string> = new Set([
  ...INLINE,
  ..."address answer article aside assistant audio blockquote body br break button caption center col colgroup dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html iframe img input label li link main meta nav ol option output p paragraph pre response reasoning script section select sentence source speak style summary svg system table tbody td template textarea tfoot th thead think thinking title tr track ul user video voice w".split(
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
