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
  const builder = new ScriptBuilder(script);
  for (const row of rows) {
    if (row.kind === "scene") builder.scene(row.heading);
    else if (row.kind === "direction") builder.direction(row.number);
    else if (row.kind === "text") {
      if (row.label !== null && isSpeaker(row.label)) builder.speaker(row.label, row);
      else builder.text(row);
    }
  }
  return builder.end();
}

interface Label {
  readonly name: string;
  readonly direction: string | null;
  /** UTF-16 units of the script where the words begin. */
  readonly wordsFrom: number;
}

type Row = { readonly number: number } & (
  | { readonly kind: "blank" }
  | { readonly kind: "direction" }
  | { readonly kind: "scene"; readonly heading: string }
  | { readonly kind: "text"; readonly label: Label | null; readonly from: number; readonly to: number }
);

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
  const rows: Row[] = [];
  const skipped = FRONT_MATTER.exec(script)?.[0].length ?? 0;
  let from = 0;
  for (const [index, written] of script.split("\n").entries()) {
    const at = from;
    from += written.length + 1;
    const number = index + 1;
    const line = written.replace(/\r$/, "");
    if (at < skipped || line.trim() === "") rows.push({ number, kind: "blank" });
    else if (RULE.test(line)) rows.push({ number, kind: "scene", heading: "" });
    else if (HEADING.test(line)) rows.push({ number, kind: "scene", heading: headingOf(line) });
    else if (DIRECTION.test(line)) rows.push({ number, kind: "direction" });
    else rows.push({ number, kind: "text", label: labelOf(line, at), from: at, to: at + line.length });
  }
  return rows;
}

function headingOf(line: string): string {
  return line.replace(HEADING, "").trim().replace(HEADING_END, "").trim();
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
  const leading = LEADING_DIRECTION.exec(line.slice(whole.length));
  // A number in parentheses is part of the words, such as an area code.
  const isDirection = leading !== null && /\p{L}/u.test(leading[0]);
  const direction = [round ?? square, isDirection ? (leading[1] ?? leading[2]) : undefined]
    .filter((part) => part !== undefined)
    .join(", ");
  return {
    name,
    direction: direction === "" ? null : direction,
    wordsFrom: at + whole.length + (isDirection ? leading[0].length : 0),
  };
}

const MAX_LABEL_CHARS = 300;
const MAX_TITLE_CHARS = 5;

/** Returns whether a label is a speaker. The returned function throws a {@link ScriptError} where that cannot be decided. */
function speakersOf(rows: readonly Row[], named: ReadonlySet<string>): (label: Label) => boolean {
  const first = rows.findIndex(({ kind }) => kind === "text");
  const hasParagraphs = rows.some(
    ({ kind }, index) => index > first && kind === "blank" && rows[index + 1]?.kind === "text",
  );
  const counts = new Map<string, number>();
  const inside = new Map<Label, number>();
  let everyLineHasLabel = true;
  let isFirst = true;
  for (const row of rows) {
    if (row.kind === "text") {
      if (row.label !== null) {
        const key = speakerKey(row.label.name);
        counts.set(key, (counts.get(key) ?? 0) + 1);
        if (!isFirst) inside.set(row.label, row.number);
      }
      const isLabelled =
        row.label !== null && (looksLikeName(row.label.name) || named.has(speakerKey(row.label.name)));
      if (isFirst && !isLabelled) everyLineHasLabel = false;
      // A name alone on its line speaks the next one.
      const isAlone = row.label !== null && row.label.wordsFrom >= row.to;
      isFirst = !hasParagraphs && !isAlone;
    } else isFirst = true;
  }
  const numberOf = new Map(
    rows.flatMap((row) => (row.kind === "text" && row.label !== null ? [[row.label, row.number]] : [])),
  );
  return (label) => {
    const key = speakerKey(label.name);
    if (named.has(key)) return true;
    const isLikely = looksLikeName(label.name);
    if ((counts.get(key) ?? 0) > 1 && (isLikely || label.name.split(/\s+/).length <= 2)) return true;
    if (!isLikely) return false;
    if ((hasParagraphs || everyLineHasLabel) && !inside.has(label)) return true;
    throw new ScriptError(
      numberOf.get(label) ?? 1,
      `"${label.name}" may be a speaker or part of the text: name it in voices if it speaks, or else join the line to the one before`,
    );
  };
}

/** Returns whether every word begins with a capital, or is written without cases, or is a particle within a name. */
function looksLikeName(name: string): boolean {
  return name.split(/\s+/).every((word, at) => !/^\p{Ll}/u.test(word) || (at > 0 && word.length <= 3));
}

class ScriptBuilder {
  readonly #script: string;
  readonly #speakers = new Map<string, string>();
  readonly #lines: ScriptLine[] = [];
  readonly #directions: number[] = [];
  #open: (Omit<ScriptLine, "text"> & { to: number }) | null = null;
  #scene: string | null = null;
  #speaker: string | null = null;

  constructor(script: string) {
    this.#script = script;
  }

  scene(heading: string): void {
    this.#close();
    this.#scene = heading;
  }

  direction(number: number): void {
    this.#close();
    this.#directions.push(number);
  }

  speaker(
    { name, direction, wordsFrom }: Label,
    { number, to }: { readonly number: number; readonly to: number },
  ): void {
    this.#close();
    const key = speakerKey(name);
    if (!this.#speakers.has(key)) this.#speakers.set(key, name);
    this.#speaker = this.#speakers.get(key)!;
    this.#begin({ number, from: wordsFrom, to, direction });
  }

  text({ number, from, to }: { readonly number: number; readonly from: number; readonly to: number }): void {
    if (this.#speaker === null)
      throw new ScriptError(
        number,
        'no speaker is named for this text: begin the line with a name and a colon, as in "Anna: Hello", or with # if it is a heading',
      );
    if (this.#open === null) this.#begin({ number, from, to, direction: null });
    else this.#open.to = to;
  }

  end(): ParsedScript {
    this.#close();
    return { speakers: [...this.#speakers.values()], lines: this.#lines, directions: this.#directions };
  }

  #begin(row: { number: number; from: number; to: number; direction: string | null }): void {
    this.#open = { ...row, speaker: this.#speaker!, scene: this.#scene };
    this.#scene = null;
  }

  #close(): void {
    if (this.#open === null) return;
    const { to, ...line } = this.#open;
    this.#open = null;
    const written = this.#script.slice(line.from, to);
    const text = written.trim();
    if (text === "")
      throw new ScriptError(line.number, `"${line.speaker}" says nothing: write the words after the colon`);
    this.#lines.push({ ...line, text, from: line.from + written.indexOf(text) });
  }
}
