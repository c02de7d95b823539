/** Placeholder for removed text until its surroundings are known. Removed from the input first. */
export const GAP = "\ue000";

/**
 * Removes tags, footnotes, stage directions and marks of links, emphasis and mathematics.
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

/** Backslash escapes. */
export const ESCAPED = /\\([*_#`~|[\]{}<>!+.\-()$%&])/g;

/** Formulas in TeX brackets. */
export const FORMULA = /\\\(((?:[^\\]|\\(?![()]))+)\\\)|\\\[((?:[^\\]|\\(?![[\]]))+)\\\]/g;

const COMMENT = /<!--.*?-->/g;
/** Tokens of chat templates, with the role that may follow. */
const TEMPLATE_TOKEN =
  /(?:<\|\w{1,40}\|>|<(?:start|end)_of_turn>)(?:(?:assistant|user|model)(?=[\s<]|$))?|<\/s>|<<\/?SYS>>|\[\/?INST\]/g;
/** Angle brackets around an address, which a placeholder stands for. */
const AUTOLINK = /<(?:mailto:)?(\ue001[\ue100-\uf8ff])>/g;
/** Footnote numbers: `[^1]`, `【4†source】`, and `[1]` directly after a sentence or a quotation. */
const NOTE = /(?<=\S)\[\^\d{1,3}\]|【\d{1,3}†[^】]{0,40}】|(?<=[.!?”"])(?:\[\d{1,3}\])+(?=\s|$)/g;
const PARENTHESES = /\(([^()]{1,60})\)/g;
const BRACKETS = /(?<![\w\])])\[([^[\]]{1,60})\](?!\()/g;
const BRACKETED_WORDS = /(?<![\w\])])\[(?=[^\p{L}[\]\d,;=]*\p{L})([^[\]\d=]*)\]/gu;
const STRUCK = /~~(?=\S)([^~]+)~~/g;
const MARKED = /(?<=^|\s)==(?=\S)([^=]+?)(?<=\S)==(?=$|[\s.,!?])/g;
/** A single star next to a digit, hash or letter is part of a code: "*21*079#". */
const STAR = /(?<![\p{L}\p{N}#*\\])\*(?=[^\s*\d#])([^*\n]*[^\s*\\#])\*(?![\p{N}#*])/gu;
const STARS = /(?<![\p{L}\p{N}*\\])(\*{2,3})(?=[^\s*])([^*\n]*[^\s*\\])\1(?![\p{N}*])/gu;
/** Unpaired marks. */
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

/** Characters of context: scanning all text for each mark would be quadratic. */
const AROUND = 80;

function withoutTags(text: string): string {
  return text.replace(TAG, (whole: string, slash: string, inside: string, offset: number) => {
    const name = TAG_NAME.exec(inside)?.[1]?.toLowerCase();
    if (name !== undefined && TAG_NAMES.has(name)) {
      if (isSpokenOf(text, offset, offset + whole.length, name)) return whole;
      return INLINE.has(name) ? "" : GAP;
    }
    // Keeps "x < 5 and y > 3" and "List<String>", but not "<your city>".
    if (!WORDS.test(inside) || /\w$/.test(text.slice(0, offset))) return whole;
    return slash === "" ? inside : GAP;
  });
}

/** Returns whether a sentence mentions the tag instead of using it: "the <b> tag". */
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

/** Removes TeX brackets and converts common commands to signs. */
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
  ...{ times: "×", cdot: "×", div: "÷", pm: "±", leq: "≤", le: "≤", geq: "≥", ge: "≥", neq: "≠" },
  ...{ ne: "≠", approx: "≈", pi: "π", alpha: "α", beta: "β", theta: "θ", infty: "∞", to: "→" },
  ...{ rightarrow: "→", degree: "°", circ: "°", ldots: "…", dots: "…", left: "", right: "", quad: " " },
};

/**
 * Returns whether a marked phrase must be a stage direction: a separate sentence with a sound or gesture in the third
 * person or -ing form ("laughs softly", "clears throat"), or a script cue ("pause", "SFX: door"). Doubtful phrases
 * are spoken: a spoken direction does less harm than a lost word.
 */
export function isStageDirection(phrase: string, before: string, after: string): boolean {
  if (!SENTENCE_END.test(before.trimEnd()) || CONTINUED.test(after)) return false;
  if (CAPITAL_ING.test(phrase)) return false;
  return GESTURE.test(phrase) || BODY.test(phrase) || CUE.test(phrase);
}

/** Excludes list numbers. */
const SENTENCE_END = /^$|[^\d\s.][.!?…]+["'”’)]*$/;
const CONTINUED = /^[\s*_]*[\p{Ll},;:—–-]/u;
/** A noun or sentence start: "*Smiling*". */
const CAPITAL_ING = /^\p{Lu}\p{Ll}*ing\b/u;
const GESTURE =
  /^(?:laugh|chuckl|giggl|sigh|gasp|groan|sniff|yawn|cough|smil|grin|smirk|nod|shrug|wink|blush|frown|whisper|paus)(?:e?s|[dgn]?ing)(?: (?:\w+ly|again))?$/i;
const BODY =
  /^(?:(?:clear|roll|raise|tilt|shake)s (?:(?:his|her|their|my|an|the) )?(?:throat|eyes|eyebrow|head)|takes a deep breath|looks (?:away|down|around)(?: \w+ly)?)$/i;
const CUE = /^(?:(?:long )?pause|laughter|applause|(?:sfx|vfx|bgm|sound): \D{1,40})$/i;

/** Matching brackets and parentheses. */
interface Pairs {
  readonly closedAt: ReadonlyMap<number, number>;
  /** Opening brackets with a letter inside. */
  readonly worded: ReadonlySet<number>;
}

/**
 * Reduces links and images to their words: `[words](address)`, `![words](address)`, `[words][1]`. Allows nested
 * brackets; linear time.
 */
export function withoutLinks(text: string): string {
  if (!/\]\s?[([]/.test(text)) return text;
  const { closedAt, worded } = pairsOf(text);
  const ends = new Map<number, number>();
  const starts = new Set<number>();
  for (const [open, close] of closedAt) {
    if (text[open] !== "[") continue;
    const isReference = text[close + 1] === "[" && worded.has(open) && !/\w/.test(text[open - 1] ?? "");
    const end = text[close + 1] === "(" || isReference ? closedAt.get(close + 1) : undefined;
    if (end === undefined) continue;
    starts.add(open);
    ends.set(close, end + 1);
  }
  let words = "";
  for (let i = 0; i < text.length; ) {
    if (starts.has(i) || (text[i] === "!" && starts.has(i + 1))) i++;
    else if (ends.has(i)) i = ends.get(i) ?? i + 1;
    else words += text[i++];
  }
  return words;
}

function pairsOf(text: string): Pairs {
  const closedAt = new Map<number, number>();
  const worded = new Set<number>();
  const brackets: number[] = [];
  const parentheses: number[] = [];
  let lastLetter = -1;
  for (const { 0: sign, index } of text.matchAll(/[()[\]]|\p{L}/gu)) {
    if (sign === "[") brackets.push(index);
    else if (sign === "(") parentheses.push(index);
    else if (sign === "]" || sign === ")") {
      const open = (sign === "]" ? brackets : parentheses).pop();
      if (open === undefined) continue;
      closedAt.set(open, index);
      if (lastLetter > open) worded.add(open);
    } else lastLetter = index;
  }
  return { closedAt, worded };
}

/** One to three underscores that may open or close emphasis. */
interface UnderscoreRun {
  readonly start: number;
  readonly marks: string;
  readonly opens: boolean;
  readonly closes: boolean;
}

/**
 * Replaces phrases between underscores: from a run that begins a word to the next of equal length that ends one.
 * Linear time.
 */
export function withoutUnderscores(
  text: string,
  spoken: (whole: string, marks: string, inside: string, offset: number) => string,
): string {
  if (!text.includes("_")) return text;
  const runs = runsOf(text);
  const closing = nextClosing(runs);
  let plain = "";
  let end = 0;
  for (const [i, { start, marks, opens }] of runs.entries()) {
    const close = closing[i];
    if (!opens || start < end || close === undefined) continue;
    const after = close.start + marks.length;
    const inside = text.slice(start + marks.length, close.start);
    plain += `${text.slice(end, start)}${spoken(text.slice(start, after), marks, inside, start)}`;
    end = after;
  }
  return `${plain}${text.slice(end)}`;
}

function runsOf(text: string): UnderscoreRun[] {
  return [...text.matchAll(/_+/g)].map(({ 0: marks, index: start }) => {
    const [before, after] = [text[start - 1] ?? "", text[start + marks.length] ?? ""];
    const isMark = marks.length <= 3;
    return {
      start,
      marks,
      opens: isMark && !/[\w\\]/.test(before) && /\S/.test(after),
      closes: isMark && /[^\s\\]/.test(before) && !/\w/.test(after),
    };
  });
}

/** Finds for each run the next closing one of equal length. */
function nextClosing(runs: readonly UnderscoreRun[]): (UnderscoreRun | undefined)[] {
  const next = new Map<number, UnderscoreRun>();
  return runs
    .toReversed()
    .map((run) => {
      const close = next.get(run.marks.length);
      if (run.closes) next.set(run.marks.length, run);
      return close;
    })
    .reverse();
}
