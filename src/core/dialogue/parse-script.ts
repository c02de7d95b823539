/** A line of a script: what one speaker says without interruption. Plain data, built for browsers too. */
export interface ScriptLine {
  /** The speaker's name as first written. */
  readonly speaker: string;
  /** The words, a contiguous part of the script: `script.slice(from, from + text.length)`. */
  readonly text: string;
  /** UTF-16 units from the start of the script. */
  readonly from: number;
  /** Line number in the script, from 1. */
  readonly number: number;
  /** How to speak, from parentheses around the name's colon; `null` if not given. */
  readonly direction: string | null;
  /** The heading of the scene that the line begins, which may be empty; `null` within a scene. */
  readonly scene: string | null;
}

export interface ParsedScript {
  /** Names in order of appearance. */
  readonly speakers: readonly string[];
  readonly lines: readonly ScriptLine[];
  /** Line numbers of the stage directions, which are not spoken. */
  readonly directions: readonly number[];
}

/** An error in a script. The message gives the line number and the remedy, without a final full stop. */
export class ScriptError extends Error {
  override readonly name = "ScriptError";

  constructor(number: number, problem: string) {
    super(`line ${number}: ${problem}`);
  }
}

/** Returns the key under which two spellings of a name are one speaker: case and width do not matter. */
export function speakerKey(name: string): string {
  return name.normalize("NFKC").replaceAll(FORMATTING, "").replaceAll(/\s+/g, " ").trim().toLowerCase();
}

/**
 * Parses a script of lines `Name: words`. A line without a name continues the one before it. `# Heading` and `---` begin
 * a scene; a line in brackets is a stage direction; front matter is skipped.
 *
 * A label is a speaker if `named` has it, if it begins two lines or more, or if it looks like a name and begins a paragraph (in
 * a script without blank lines: if every line begins with a label). Throws a {@link ScriptError} for another that looks like a
 * name, since it cannot be distinguished from prose.
 *
 * @param named names that are speakers for certain
 */
export function parseScript(script: string, named: readonly string[] = []): ParsedScript {
  const rows = rowsOf(script);
  const isSpeaker = speakersOf(rows, new Set(named.map(speakerKey)));
  const speakers = new Map<string, string>();
  const lines: UnreadLine[] = [];
  const directions: number[] = [];
  let speaker: string | undefined;
  let scene: string | null = null;
  /** The line that text without a name continues. */
  let open: UnreadLine | null = null;
  for (const row of rows) {
    if (row.kind === "text") {
      const { number, from, to } = row;
      const label = row.label !== null && isSpeaker(row, row.label) ? row.label : null;
      if (open !== null && label === null) {
        open.to = to;
        continue;
      }
      if (label !== null && !speakers.has(label.key)) speakers.set(label.key, label.name);
      if (label !== null) speaker = speakers.get(label.key);
      if (speaker === undefined) throw new ScriptError(number, NO_SPEAKER);
      const { wordsFrom = from, direction = null } = label ?? {};
      open = { from: wordsFrom, to, number, speaker, direction, scene };
      lines.push(open);
      scene = null;
    } else if (row.kind !== "blank") {
      open = null;
      if (row.kind === "scene") scene = row.heading;
      else directions.push(row.number);
    }
  }
  return { speakers: [...speakers.values()], lines: lines.map((line) => readLine(line, script)), directions };
}

const NO_SPEAKER =
  'no speaker is named for this text: begin the line with a name and a colon, as in "Anna: Hello", or with # if it is a heading';

/** A line with the end of its words instead of the words. */
type UnreadLine = Omit<ScriptLine, "text"> & { to: number };

function readLine({ to, ...line }: UnreadLine, script: string): ScriptLine {
  const written = script.slice(line.from, to);
  const text = written.trim();
  if (text === "")
    throw new ScriptError(line.number, `"${line.speaker}" says nothing: write the words after the colon`);
  return { ...line, text, from: line.from + written.indexOf(text) };
}

interface Label {
  readonly name: string;
  /** Key of the name. */
  readonly key: string;
  readonly direction: string | null;
  /** UTF-16 units of the script where the words begin. */
  readonly wordsFrom: number;
}

interface TextRow {
  readonly kind: "text";
  readonly number: number;
  readonly label: Label | null;
  /** UTF-16 units of the script. */
  readonly from: number;
  readonly to: number;
}

type Row =
  | TextRow
  | { readonly kind: "scene"; readonly heading: string }
  | { readonly kind: "direction"; readonly number: number }
  | { readonly kind: "blank" };

/** Invisible characters, such as the direction marks in right-to-left text. */
const FORMATTING = /\p{Cf}/gu;
const FRONT_MATTER = /^\ufeff?---[ \t]*\r?\n(?:[\w-]{1,40}:.*\r?\n){0,50}---[ \t]*(?:\r?\n|$)/;
const HEADING = /^[ \t]{0,3}#{1,6}(?=[ \t]|$)/;
/** Starts at the first mark of a run only, so that no heading costs more than its length allows. */
const HEADING_END = /(?<!#)#+$/;
const RULE = /^[ \t]*([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const DIRECTION = /^\s*(?:\([^()]*\)|\[(?!pause:|voice:)[^[\]]*\])\s*$/;
const NAME_WORDS = 5;
/** Bounded repetitions, so that no line costs more than its length allows. */
const NAME = String.raw`(\p{L}[\p{L}\p{M}\p{N}\p{Cf} .'’&-]{0,39}?)`;
const BRACKETS = String.raw`(?:\(([^()]{1,200})\)|\[([^[\]]{1,200})\])?`;
const COLON = String.raw`(?:：|:(?=\s|$|[*_]+(?:\s|$)))`;
const LABEL = new RegExp(
  String.raw`^[\s\p{Cf}]*[*_]{0,3}${NAME}[*_]{0,3}[\s\p{Cf}]{0,4}${BRACKETS}[*_]{0,3}\s{0,4}${COLON}[*_]{0,3}\s*`,
  "u",
);
const LEADING_DIRECTION = /^(?:\(([^()]{1,200})\)|\[(?!pause:|voice:)([^[\]]{1,200})\])(?=\s|$)\s*/;

/** Classifies each line of the script. */
function rowsOf(script: string): Row[] {
  const skipped = FRONT_MATTER.exec(script)?.[0].length ?? 0;
  let next = 0;
  return script.split("\n").map((written, index): Row => {
    const [from, number] = [next, index + 1];
    next += written.length + 1;
    const line = written.replace(/\r$/, "");
    if (from < skipped || line.trim() === "") return { kind: "blank" };
    if (RULE.test(line)) return { kind: "scene", heading: "" };
    if (HEADING.test(line))
      return { kind: "scene", heading: line.replace(HEADING, "").trim().replace(HEADING_END, "").trim() };
    if (DIRECTION.test(line)) return { kind: "direction", number };
    return { kind: "text", number, label: labelOf(line, from), from, to: from + line.length };
  });
}

function labelOf(line: string, at: number): Label | null {
  const found = LABEL.exec(line.slice(0, MAX_LABEL_CHARS));
  if (found === null) return null;
  const [whole, written = "", round, square] = found;
  const name = written.replaceAll(FORMATTING, "").trim();
  const words = name.split(/\s+/);
  // A full stop belongs to a title or an initial, not to the end of a sentence.
  const isName = words.every((word) => !word.includes(".") || word.length <= MAX_TITLE_CHARS);
  if (!isName || words.length > NAME_WORDS) return null;
  const [leading = "", ...inside] = LEADING_DIRECTION.exec(line.slice(whole.length)) ?? [];
  // A number in parentheses is part of the words, such as an area code.
  const isDirection = /\p{L}/u.test(leading);
  const directions = [round, square, ...(isDirection ? inside : [])].filter((part) => part !== undefined);
  const wordsFrom = at + whole.length + (isDirection ? leading.length : 0);
  return { name, key: speakerKey(name), direction: directions.join(", ") || null, wordsFrom };
}

const MAX_LABEL_CHARS = 300;
const MAX_TITLE_CHARS = 5;

/** Returns whether a label is a speaker. The returned function throws a {@link ScriptError} where that cannot be decided. */
function speakersOf(
  rows: readonly Row[],
  named: ReadonlySet<string>,
): (row: TextRow, label: Label) => boolean {
  const first = rows.findIndex(({ kind }) => kind === "text");
  const hasParagraphs = rows.some(
    ({ kind }, index) => index > first && kind === "blank" && rows[index + 1]?.kind === "text",
  );
  const counts = new Map<string, number>();
  /** Rows within a paragraph. */
  const inside = new Set<TextRow>();
  let everyLineHasLabel = true;
  let isFirst = true;
  for (const row of rows) {
    if (row.kind === "text") {
      const { label, to } = row;
      if (label !== null) counts.set(label.key, (counts.get(label.key) ?? 0) + 1);
      if (!isFirst) inside.add(row);
      else if (label === null || !(looksLikeName(label.name) || named.has(label.key)))
        everyLineHasLabel = false;
      // A name alone on its line speaks the next one.
      isFirst = !hasParagraphs && (label === null || label.wordsFrom < to);
    } else isFirst = true;
  }
  return (row, { key, name }) => {
    if (named.has(key)) return true;
    const isLikely = looksLikeName(name);
    if ((counts.get(key) ?? 0) > 1 && (isLikely || name.split(/\s+/).length <= 2)) return true;
    if (!isLikely) return false;
    if ((hasParagraphs || everyLineHasLabel) && !inside.has(row)) return true;
    throw new ScriptError(
      row.number,
      `"${name}" may be a speaker or part of the text: name it in voices if it speaks, or else join the line to the one before`,
    );
  };
}

/** Returns whether no word begins in lower case, except particles of up to three letters between other words. */
function looksLikeName(name: string): boolean {
  return !/^\p{Ll}|\s\p{Ll}(?:\S{3}|\S*$)/u.test(name);
}
