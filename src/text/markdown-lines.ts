import { isPhonetic } from "./given-phonemes.ts";
import { ENTITY, entity } from "./kinds/markup.ts";

/** What a line comes to. */
export interface ReadLine {
  /** As it is spoken: empty where a paragraph ends; absent where nothing is. */
  readonly text?: string;
  readonly heading?: string;
  readonly isChapter?: boolean;
}

export const MAX_HEADING_CHARS = 100;
/** Headings that begin a chapter: `#` and `##`. */
const CHAPTER_LEVELS = 2;

/**
 * CommonMark as it is read aloud, line by line: without its signs, code, notes and the addresses of links, and without the
 * settings that some programs keep at the top.
 */
export class MarkdownLines {
  /** What ends the block that it is in, of which nothing is read. */
  #fence = "";
  #isUnderline = false;
  #isTop = true;
  /** Lines of that block. */
  #skipped = 0;
  #isComment = false;
  /** Whether a list goes on, whose items may be indented as far as code is. */
  #isList = false;

  /**
   * @param isFirst whether the paragraph begins with it
   * @param ahead the next line
   */
  read(line: string, isFirst: boolean, ahead: string): ReadLine {
    const isTop = this.#isTop;
    this.#isTop = false;
    if (isTop && /^(?:-{3}|\+{3})\s*$/.test(line) && /^(?:#|\[?[\w"'-]{1,64}["']?\s*[\]:=])/.test(ahead)) {
      this.#fence = line.trim();
      return {};
    }
    if (this.#isUnderline) {
      this.#isUnderline = false;
      return {};
    }
    const text = this.#withoutComments(line.trim());
    if (text === null) return {};
    // In a quotation and in an item of a list there is code too.
    const inside = text
      .replace(/^(?:>\s?)+/, "")
      .replace(LIST_ITEM, "")
      .trim();
    if (this.#fence !== "") {
      const isFrontMatter = /^[-+]/.test(this.#fence);
      this.#skipped += 1;
      const isOver = isFrontMatter
        ? text === this.#fence || this.#skipped > MAX_FRONT_MATTER_LINES
        : /^(?:`{3,}|~{3,})$/.test(inside) && inside.startsWith(this.#fence);
      if (isOver) this.#fence = "";
      return {};
    }
    // What is behind backticks has none: "```code```" is a line of words.
    const fence = /^(?:`{3,}(?=[^`]*$)|~{3,})/.exec(inside)?.[0] ?? "";
    if (fence !== "") {
      this.#fence = fence;
      this.#skipped = 0;
      return {};
    }
    if (text !== "" && !/^\s/.test(line)) this.#isList = LIST_ITEM.test(text);
    if (isFirst && !this.#isList && /^(?: {4}|\t)\s*\S/.test(line)) return {};
    const [, signs, title] = /^(#{1,6})\s+(.*?)(?:\s+#+)?$/.exec(text) ?? [];
    if (signs !== undefined && title !== undefined) return headingOf(title, signs.length);
    const underline = /^(=+|-{2,})$/.exec(ahead.trim())?.[1];
    if (underline !== undefined && isFirst && text !== "" && !/^[-*+>|]/.test(text)) {
      this.#isUnderline = true;
      return headingOf(text, underline.startsWith("=") ? 1 : 2);
    }
    // Rules, the line below a table's head, and where footnotes and links lead.
    if (/^(?:[-*_]\s*){3,}$/.test(text) || /^\|?[\s:|-]+\|[\s:|-]*$/.test(text)) return { text: "" };
    if (/^\[[^\]]+\]:\s/.test(text)) return {};
    const item = text.replace(/^(?:>\s?)+/, "").replace(LIST_ITEM, numbered);
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

  /** A line without comments, which may end on later ones; `null` where it is nothing else. */
  #withoutComments(line: string): string | null {
    let text = line;
    if (this.#isComment) {
      const end = text.indexOf("-->");
      if (end < 0) return null;
      this.#isComment = false;
      text = text.slice(end + 3);
      if (text.trim() === "") return null;
    }
    if (this.#fence !== "" || !text.includes("<!--")) return text;
    text = text.replaceAll(/<!--.*?-->/g, "");
    const begin = text.indexOf("<!--");
    this.#isComment = begin >= 0;
    const left = begin < 0 ? text : text.slice(0, begin);
    return left.trim() === "" ? null : left.trim();
  }
}

/** What programs keep at the top is no longer. */
const MAX_FRONT_MATTER_LINES = 200;
/** `- `, `* [x] `, `1. `. */
const LIST_ITEM = /^(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?/;

/** A number is no sentence by itself: `2: `. */
function numbered(mark: string): string {
  const number = /^\d+/.exec(mark)?.[0];
  return number === undefined ? "" : `${number}: `;
}

function headingOf(title: string, level: number): ReadLine {
  const heading = withoutSigns(title).slice(0, 10 * MAX_HEADING_CHARS);
  return heading === "" ? { text: "" } : { heading, isChapter: level <= CHAPTER_LEVELS };
}

/** Emphasis, code, pictures, links and tags of HTML without their signs; `[word](/phonemes/)` stays. */
function withoutSigns(text: string): string {
  return text
    .replaceAll(/\\([!-/:-@[-`{-~])/g, (_, sign: string) => String.fromCharCode(HIDDEN + sign.charCodeAt(0)))
    .replaceAll(/<br\s*\/?>/gi, " ")
    .replaceAll(/<(?:https?:\/\/|mailto:)[^<>\s]{1,2000}>/gi, "")
    .replaceAll(/<\/?[a-z][a-z0-9]{0,15}(?:\s[^<>]{0,500})?\/?>/gi, "")
    .replaceAll(/!\[([^\]]{0,500})\]\([^()\s]{0,2000}(?:\s"[^"]{0,500}")?\)/g, "$1")
    .replaceAll(
      /\[([^\][]{1,500})\]\(([^()\s]{0,2000})(?:\s"[^"]{0,500}")?\)/g,
      (all, said: string, to: string) => (isPhonetic(to) ? all : said),
    )
    .replaceAll(/\[\^[^\]]{1,50}\]/g, "")
    .replaceAll(/!?\[([^\][]{1,500})\]\[[^\][]{0,200}\]/g, "$1")
    .replaceAll(ENTITY, entity)
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
