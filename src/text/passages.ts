import { isPhonetic } from "./given-phonemes.ts";
import { sentencesOf } from "./sentence-cutter.ts";

/** A part of a long text that is spoken by itself: some paragraphs, or a heading. */
export interface Passage {
  /** Of at most {@link MAX_PASSAGE_CHARS}, as it is to be read. */
  readonly text: string;
  /** The heading, where it is one that begins a chapter. */
  readonly chapter: string | null;
  /** How much of the whole text was read by then, in UTF-16 units. */
  readonly readChars: number;
}

/** What a text is written in. */
export type Writing = "plain" | "markdown";

/** UTF-16 units of a passage, at most: a minute and a half of speech. */
export const MAX_PASSAGE_CHARS = 1_500;

/** A line longer than this is taken for several. */
const MAX_LINE_CHARS = 20_000;

/** Headings of Markdown that begin a chapter: `#` and `##`. */
const CHAPTER_LEVELS = 2;
const MAX_HEADING_CHARS = 100;
/** How books without markup name their parts, in a line by itself. */
const PLAIN_HEADING =
  /^(?:(?:chapter|part|book|act|scene|canto|letter)\s+(?:\d+|[ivxlcdm]+|[a-z]+(?:-[a-z]+)?)\b.*|(?:prologue|epilogue|preface|foreword|introduction|conclusion|afterword|appendix)\b[^.!?]{0,40})$/i;

/**
 * Cuts a text into what is spoken one after the other, as it comes. Memory is bounded, however long the text, its paragraphs or
 * its lines are.
 */
export async function* passagesIn(
  chunks: AsyncIterable<string>,
  writing: Writing,
): AsyncGenerator<Passage, void, void> {
  const reader = writing === "markdown" ? new MarkdownLines() : new PlainLines();
  /** Paragraphs that are not spoken yet. */
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
  for await (const next of linesIn(chunks)) {
    if (before !== null) yield* line(before, next);
    before = next;
  }
  if (before !== null) yield* line(before, "");
  yield* endParagraph();
  yield* spoken();
}

/** What a line comes to. */
interface ReadLine {
  /** As it is spoken: empty where a paragraph ends; absent where nothing is. */
  readonly text?: string;
  readonly heading?: string;
  readonly isChapter?: boolean;
}

class PlainLines {
  read(line: string, isFirst: boolean, ahead: string): ReadLine {
    const text = line.trim();
    const isAlone = isFirst && ahead.trim() === "";
    const isHeading = isAlone && text.length <= MAX_HEADING_CHARS && PLAIN_HEADING.test(text);
    return isHeading ? { heading: text, isChapter: true } : { text: line.trimEnd() };
  }
}

/** CommonMark as it is read aloud: without its signs, code and addresses. */
class MarkdownLines {
  /** What ends the block of code that it is in. */
  #fence = "";
  #isUnderline = false;

  read(line: string, isFirst: boolean, ahead: string): ReadLine {
    if (this.#isUnderline) {
      this.#isUnderline = false;
      return {};
    }
    const text = line.trim();
    const fence = /^(?:`{3,}|~{3,})/.exec(text)?.[0] ?? "";
    if (this.#fence !== "") {
      if (fence.startsWith(this.#fence)) this.#fence = "";
      return {};
    }
    if (fence !== "") {
      this.#fence = fence;
      return {};
    }
    const [, signs, title] = /^(#{1,6})\s+(.*?)\s*#*$/.exec(text) ?? [];
    if (signs !== undefined && title !== undefined) return headingOf(title, signs.length);
    const underline = /^(=+|-{2,})$/.exec(ahead.trim())?.[1];
    if (underline !== undefined && isFirst && text !== "" && !/^[-*+>|]/.test(text)) {
      this.#isUnderline = true;
      return headingOf(text, underline.startsWith("=") ? 1 : 2);
    }
    // Rules, the line below a table's head, and where footnotes and links lead.
    if (/^(?:[-*_]\s*){3,}$/.test(text) || /^\|?[\s:|-]+\|[\s:|-]*$/.test(text)) return { text: "" };
    if (/^\[[^\]]+\]:\s/.test(text)) return {};
    const item = text.replace(/^(?:>\s?)+/, "").replace(/^[-*+]\s+(?:\[[ xX]\]\s+)?/, "");
    const isItem = item !== text;
    const cells = /^\|(.*)\|$/.exec(item)?.[1];
    const said = withoutSigns(
      cells === undefined
        ? item
        : cells
            .split("|")
            .map((each) => each.trim())
            .join(", "),
    );
    // An item is a sentence by itself.
    return { text: isItem && said !== "" && !/[.!?:;,…]$/.test(said) ? `${said}.` : said };
  }
}

function headingOf(title: string, level: number): ReadLine {
  const heading = withoutSigns(title).slice(0, 10 * MAX_HEADING_CHARS);
  return heading === "" ? { text: "" } : { heading, isChapter: level <= CHAPTER_LEVELS };
}

/** Emphasis, code, pictures, links and tags of HTML without their signs; `[word](/phonemes/)` stays. */
function withoutSigns(text: string): string {
  return text
    .replaceAll(/\\([!-/:-@[-`{-~])/g, (_, sign: string) => String.fromCharCode(HIDDEN + sign.charCodeAt(0)))
    .replaceAll(/<!--.{0,2000}?-->/g, "")
    .replaceAll(/<\/?[a-z][a-z0-9]{0,15}(?:\s[^<>]{0,500})?\/?>/gi, "")
    .replaceAll(/!\[([^\]]{0,500})\]\([^()\s]{0,2000}(?:\s"[^"]{0,500}")?\)/g, "$1")
    .replaceAll(
      /\[([^\][]{1,500})\]\(([^()\s]{0,2000})(?:\s"[^"]{0,500}")?\)/g,
      (all, said: string, to: string) => (isPhonetic(to) ? all : said),
    )
    .replaceAll(/\[\^[^\]]{1,50}\]/g, "")
    .replaceAll(/(`{1,3})([^`]{1,1000})\1/g, "$2")
    .replaceAll(/(\*\*|__)(?=\S)([^*_]{1,1000}?)\1/g, "$2")
    .replaceAll(/(?<![\w*])\*(?=\S)([^*]{1,1000}?)\*(?![\w*])/g, "$1")
    .replaceAll(/(?<![\w_])_(?=\S)([^_]{1,1000}?)_(?![\w_])/g, "$1")
    .replaceAll(/~~([^~]{1,1000})~~/g, "$1")
    .replaceAll(/[\ue021-\ue07e]/g, (hidden) => String.fromCharCode(hidden.charCodeAt(0) - HIDDEN))
    .trim();
}

/** Where signs that stand for themselves wait, in Unicode's private use area, while others are taken out. */
const HIDDEN = 0xe000;

/** Parts of a paragraph that a passage has room for, at ends of sentences. */
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

/** What no end of a sentence cuts. */
function cut(sentence: string): string[] {
  return cutAt(sentence.trim(), MAX_PASSAGE_CHARS);
}

/** A text in parts of at most so many UTF-16 units, cut at spaces where there are any, and never within a character. */
function cutAt(text: string, maxChars: number): string[] {
  const parts: string[] = [];
  let from = 0;
  while (text.length - from > maxChars) {
    const space = text.lastIndexOf(" ", from + maxChars);
    const isPair = /[\ud800-\udbff]/.test(text.charAt(from + maxChars - 1));
    const end = space > from ? space : from + maxChars - (isPair ? 1 : 0);
    parts.push(text.slice(from, end));
    from = end;
  }
  const rest = text.slice(from);
  return rest.trim() === "" ? parts : [...parts, rest];
}

/** Lines without their ends; one that does not end for long is several. */
async function* linesIn(chunks: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop() ?? "";
    yield* lines.flatMap((line) => (line === "" ? [line] : cutAt(line, MAX_LINE_CHARS)));
    if (rest.length <= MAX_LINE_CHARS) continue;
    const parts = cutAt(rest, MAX_LINE_CHARS);
    rest = parts.pop() ?? "";
    yield* parts;
  }
  if (rest !== "") yield* cutAt(rest, MAX_LINE_CHARS);
}
