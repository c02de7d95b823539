import { VOICE_MARK } from "../ssml/markup.ts";
import { MAX_HEADING_CHARS, MarkdownLines, type ReadLine, visibleLines } from "./markdown-lines.ts";
import { sentencesOf } from "./sentence-cutter.ts";

/** A part of a long text that is spoken as a unit: some paragraphs, or a heading. */
export interface Passage {
  readonly text: string;
  /** The heading, if it begins a chapter. */
  readonly chapter: string | null;
  /** Position in the whole text after this passage, in UTF-16 units. */
  readonly readChars: number;
  /** In a dialogue: the number of the line, from 0, its speaker and direction, and the seconds of silence after it. */
  readonly line?: Readonly<{ index: number; speaker: string; direction: string; pauseS: number }>;
}

export type TextFormat = "plain" | "markdown";

/** Longest passage in UTF-16 units: a minute and a half of speech. */
export const MAX_PASSAGE_CHARS = 1_500;

const MAX_LINE_CHARS = 20_000;

const NUMBER_WORD =
  "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|" +
  "hundred|(?:the )?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|last)";
/** Headings of books without markup, on a line by themselves. */
const NUMBERED_HEADING = new RegExp(
  `^(?:chapter|part|book|act|scene|canto|letter)\\s+(?:\\d+|[ivxlcdm]+|(?:${NUMBER_WORD})(?:-(?:${NUMBER_WORD}))?)(?![\\p{L}\\d])`,
  "iu",
);
const TITLE_BEHIND = /^(?:[.:—–-]?|[.:]?\s+(?:[—–-]\s*)?[^\p{Ll}].*|[.:—–-]\s*.*)$/u;
const NAMED_HEADING =
  /^(?:prologue|epilogue|preface|foreword|introduction|conclusion|afterword|appendix)\b[^.!?]{0,40}$/i;

function isPlainHeading(line: string): boolean {
  const numbered = NUMBERED_HEADING.exec(line)?.[0];
  return numbered === undefined ? NAMED_HEADING.test(line) : TITLE_BEHIND.test(line.slice(numbered.length));
}

/**
 * Splits a text into passages while it arrives, in bounded memory. A passage begins with the last `[voice:NAME]` before
 * it.
 */
export async function* splitPassages(
  chunks: AsyncIterable<string>,
  format: TextFormat,
): AsyncGenerator<Passage, void, void> {
  let voice = "";
  for await (const passage of passagesOf(chunks, format)) {
    yield { ...passage, text: voice + passage.text };
    voice = passage.text.match(VOICE_MARK)?.at(-1) ?? voice;
  }
}

async function* passagesOf(
  chunks: AsyncIterable<string>,
  format: TextFormat,
): AsyncGenerator<Passage, void, void> {
  const reader = format === "markdown" ? new MarkdownLines() : new PlainLines();
  let waiting: string[] = [];
  let waitingChars = 0;
  let paragraph: string[] = [];
  let paragraphChars = 0;
  let readChars = 0;

  function* spoken(): Generator<Passage, void, void> {
    if (waiting.length > 0) yield { text: waiting.join("\n\n"), chapter: null, readChars };
    waiting = [];
    waitingChars = 0;
  }
  function* endParagraph(): Generator<Passage, void, void> {
    const text = paragraph.join("\n");
    paragraph = [];
    paragraphChars = 0;
    for (const part of partsOf(text)) {
      if (waitingChars + part.length > MAX_PASSAGE_CHARS) yield* spoken();
      waiting.push(part);
      waitingChars += part.length + 2;
    }
  }
  function* line(written: string, ahead: string): Generator<Passage, void, void> {
    const read = reader.read(written, paragraph.length === 0, ahead);
    if (read.heading !== undefined) {
      yield* endParagraph();
      yield* spoken();
      readChars += written.length + 1;
      const text = /[.!?:…]$/.test(read.heading) ? read.heading : `${read.heading}.`;
      yield { text, chapter: read.isChapter === true ? read.heading : null, readChars };
      return;
    }
    readChars += written.length + 1;
    if (read.text === "") yield* endParagraph();
    else if (read.text !== undefined) {
      paragraph.push(read.text);
      paragraphChars += read.text.length;
      if (paragraphChars > MAX_LINE_CHARS) yield* endParagraph();
    }
  }

  let before: string | null = null;
  const lines = linesIn(chunks);
  for await (const next of format === "markdown" ? visibleLines(lines) : lines) {
    if (before !== null) yield* line(before, next);
    before = next;
  }
  if (before !== null) yield* line(before, "");
  yield* endParagraph();
  yield* spoken();
}

class PlainLines {
  read(line: string, isFirst: boolean, ahead: string): ReadLine {
    const text = line.trim();
    const isAlone = isFirst && ahead.trim() === "";
    const isHeading = isAlone && text.length <= MAX_HEADING_CHARS && isPlainHeading(text);
    return isHeading ? { heading: text, isChapter: true } : { text: line.trimEnd() };
  }
}

function partsOf(text: string): string[] {
  if (text.trim() === "") return [];
  if (text.length <= MAX_PASSAGE_CHARS) return [text];
  const parts: string[] = [];
  let part = "";
  for (const sentence of sentencesOf(text).flatMap(cut)) {
    if (part.length + sentence.length > MAX_PASSAGE_CHARS && part !== "") {
      parts.push(part);
      part = "";
    }
    part += part === "" ? sentence : ` ${sentence}`;
  }
  return part === "" ? parts : [...parts, part];
}

function cut(sentence: string): string[] {
  return splitAtSpaces(sentence.trim(), MAX_PASSAGE_CHARS).filter((part) => part.trim() !== "");
}

/** Splits a text at spaces, or else anywhere but within a character; never within a mark or an entity. */
export function splitAtSpaces(text: string, maxChars: number): string[] {
  const parts: string[] = [];
  let from = 0;
  while (text.length - from > maxChars) {
    const space = text.lastIndexOf(" ", from + maxChars);
    const isPair = /[\ud800-\udbff]/.test(text.charAt(from + maxChars - 1));
    const cut = space > from ? space : from + maxChars - (isPair ? 1 : 0);
    const mark = OPEN_MARK.exec(text.slice(from + 1, cut));
    const end = mark === null ? cut : from + 1 + mark.index;
    parts.push(text.slice(from, end));
    from = end;
  }
  return [...parts, text.slice(from)];
}

/** A mark that ends here or later, with the phonemes behind it, or an entity of SSML. */
const OPEN_MARK = /(?:\[[^[\]]{0,99}(?:\](?:\(\/[^()]{0,99})?)?|&[^\s&;]{0,31})$/;

async function* linesIn(chunks: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop() ?? "";
    yield* lines.flatMap((line) => (line === "" ? [line] : splitAtSpaces(line, MAX_LINE_CHARS)));
    if (rest.length <= MAX_LINE_CHARS) continue;
    const parts = splitAtSpaces(rest, MAX_LINE_CHARS);
    rest = parts.pop() ?? "";
    yield* parts;
  }
  if (rest !== "") yield* splitAtSpaces(rest, MAX_LINE_CHARS);
}
