import { ENTITY, entity } from "../normalise/markup.ts";
import { isPhonetic } from "../phonemes/given-phonemes.ts";

export interface ReadLine {
  /** Spoken text; empty at the end of a paragraph, absent if nothing is spoken. */
  readonly text?: string;
  readonly heading?: string;
  readonly isChapter?: boolean;
}

export const MAX_HEADING_CHARS = 100;
/** `#` and `##` begin a chapter. */
const CHAPTER_LEVELS = 2;

/** Reads CommonMark line by line: without markup, code, notes, link addresses and front matter. */
export class MarkdownLines {
  /** End of the current code block. */
  #fence = "";
  #isUnderline = false;
  #isFenceQuoted = false;
  #isBlankBefore = true;
  /** Whether the line is in a list, whose items may be indented like code. */
  #isList = false;

  /**
   * @param isFirst whether the line begins a paragraph
   * @param ahead the next line
   */
  read(line: string, isFirst: boolean, ahead: string): ReadLine {
    if (this.#isUnderline) {
      this.#isUnderline = false;
      return {};
    }
    const text = line.trim();
    const isBlankBefore = this.#isBlankBefore;
    this.#isBlankBefore = text === "";
    const isQuoted = text.startsWith(">");
    if (this.#isFenceQuoted && !isQuoted) this.#fence = "";
    if (this.#fence !== "") {
      const inside = this.#isFenceQuoted ? unquoted(text) : text;
      if (/^(?:`{3,}|~{3,})$/.test(inside) && inside.startsWith(this.#fence)) this.#fence = "";
      return {};
    }
    // Code may be inside quotations and list items.
    const inside = unquoted(text).replace(LIST_ITEM, "").trim();
    // "```code```" on one line is text.
    const fence = /^(?:`{3,}(?=[^`]*$)|~{3,})/.exec(inside)?.[0] ?? "";
    if (fence !== "") {
      this.#fence = fence;
      this.#isFenceQuoted = isQuoted;
      return {};
    }
    if (text !== "" && !/^\s/.test(line)) this.#isList = LIST_ITEM.test(text);
    if (isFirst && isBlankBefore && !this.#isList && /^(?: {4}|\t)\s*\S/.test(line)) return {};
    const [, signs, title] = /^(#{1,6})\s+(.*?)(?:\s+#+)?$/.exec(text) ?? [];
    if (signs !== undefined && title !== undefined) return headingOf(title, signs.length);
    const underline = /^(=+|-{2,})$/.exec(ahead.trim())?.[1];
    if (
      underline !== undefined &&
      isFirst &&
      text !== "" &&
      text.length <= MAX_TITLE_CHARS &&
      !/^[-*+>|]/.test(text)
    ) {
      this.#isUnderline = true;
      return headingOf(text, underline.startsWith("=") ? 1 : 2);
    }
    // Rules, table separators, footnotes and link definitions.
    if (/^(?:[-*_]\s*){3,}$/.test(text) || /^\|?[\s:|-]+\|[\s:|-]*$/.test(text)) return { text: "" };
    if (/^\[\^[^\]]+\]:\s/.test(text) || LINK_ADDRESS.test(text)) return {};
    const item = unquoted(text).replace(LIST_ITEM, numbered);
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
    return { text: isItem && said !== "" && !/[.!?:;,…]$/.test(said) ? `${said}.` : said };
  }
}

const MAX_TITLE_CHARS = 10 * MAX_HEADING_CHARS;
/** `[1]: http://example.org "Title"`, but not `[Anna]: Hello.` */
const LINK_ADDRESS =
  /^\[[^\]]+\]:\s*<?(?:[a-z][a-z+.-]*:|www\.|[./#])?[^\s<>]*[./#:@][^\s<>]+>?(?:\s+["'(].*)?$/i;
const LIST_ITEM = /^(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?/;

/** "2: " is not a sentence of its own, unlike "2. ". */
function numbered(mark: string): string {
  const number = /^\d+/.exec(mark)?.[0];
  return number === undefined ? "" : `${number}: `;
}

function unquoted(text: string): string {
  return text.replace(/^(?:>\s?)+/, "");
}

function headingOf(title: string, level: number): ReadLine {
  const heading = withoutSigns(title);
  if (heading.length > MAX_TITLE_CHARS) return { text: heading };
  return heading === "" ? { text: "" } : { heading, isChapter: level <= CHAPTER_LEVELS };
}

/** Removes emphasis, code marks, images, links and HTML tags; keeps `[word](/phonemes/)`. */
function withoutSigns(text: string): string {
  return text
    .replaceAll(/\\([!-/:-@[-`{-~])/g, (_, sign: string) => String.fromCharCode(HIDDEN + sign.charCodeAt(0)))
    .replaceAll(/<!--.{0,2000}?-->/g, "")
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

/** Private-use offset of escaped signs while others are removed. */
const HIDDEN = 0xe000;

/** Drops front matter and comments on their own lines. Without a nearby end they are text. */
export async function* visibleLines(lines: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let held: string[] = [];
  let end: RegExp | null = null;
  let isTop = true;
  let fence = "";
  for await (const line of lines) {
    if (end !== null) {
      held.push(line);
      if (end.test(line)) {
        [held, end] = [[], null];
        continue;
      }
      if (held.length <= MAX_HELD_LINES && (end !== FRONT_MATTER_END || SETTING.test(line))) continue;
      [end, isTop] = [null, false];
      yield* held;
      held = [];
      continue;
    }
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence === "") fence = mark;
    else if (mark.startsWith(fence)) fence = "";
    if (isTop && /^---\s*$/.test(line)) end = FRONT_MATTER_END;
    else if (fence === "" && /^ {0,3}<!--(?!-?>)(?!.*-->)/.test(line)) end = COMMENT_END;
    isTop = false;
    if (end === null) yield line;
    else held.push(line);
  }
  yield* held;
}

/** Returns the title and the author of front matter, where they are written on a line each; else empty ones. */
export function frontMatterOf(beginning: string): { readonly title: string; readonly author: string } {
  const found = { title: "", author: "" };
  const [first = "", ...lines] = beginning.split(/\r?\n/, MAX_HELD_LINES + 1);
  const end = lines.findIndex((line) => !SETTING.test(line));
  if (!/^---\s*$/.test(first) || !FRONT_MATTER_END.test(lines[end] ?? "")) return found;
  for (const line of lines.slice(0, end)) {
    const [, name = "", value = ""] = /^["']?(title|author)["']?\s*:\s+([^\s[{|>&*!].*)$/i.exec(line) ?? [];
    const plain = value.trim().replace(/^(["'])(.*)\1$/, "$2");
    if (name !== "") found[name.toLowerCase() as keyof typeof found] = plain;
  }
  return found;
}

const MAX_HELD_LINES = 200;
const FRONT_MATTER_END = /^(?:---|\.\.\.)\s*$/;
const COMMENT_END = /-->\s*$/;
const SETTING = /^(?:\s*$|\s+\S|#|- |["']?[\w-]+["']?\s*:(?:\s|$))/;
