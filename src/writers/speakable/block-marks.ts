/** The number of a list's last item in a reply; 0 before the first. */
export interface ListCount {
  last: number;
}

/**
 * A line without what makes it a heading, an item of a list, a quotation, a table's row, a fence, a rule or a link's address. What stood
 * alone like that ends in a full stop then, so that it does not run into the next line. A number counts as an item's
 * where a list begins, at 1, or goes on.
 */
export function withoutBlockMarks(line: string, list: ListCount): string {
  if (FENCE.test(line) || RULE.test(line) || ADDRESS_OF_REFERENCE.test(line)) return "";
  const quoted = line.replace(QUOTE, "");
  const row = cellsOf(quoted);
  if (row !== null) return stopped(row);
  const heading = quoted.replace(HEADING, "$1");
  const bulleted = heading.replace(BULLET, "").replace(CHECKBOX, "");
  const item = withoutNumber(bulleted, list);
  return item === quoted ? item : stopped(item);
}

function withoutNumber(line: string, list: ListCount): string {
  const [mark, bold, number] = NUMBER.exec(line) ?? [];
  if (mark === undefined || number === undefined) return line;
  const value = /\d/.test(number) ? Number(number) : number.toLowerCase().charCodeAt(0) - 96;
  if (value !== 1 && value !== list.last + 1) return line;
  list.last = value;
  return `${bold ?? ""}${line.slice(mark.length)}`;
}

/** A table's row as one sentence; `null` for what is no row. */
function cellsOf(line: string): string | null {
  const text = line.trim();
  if (!/^\|\s|\s\|$|^\|.*\|$/.test(text) || text === "|") return null;
  const cells = text.split("|").map((cell) => cell.trim());
  const filled = cells.filter((cell) => cell !== "");
  return filled.every((cell) => /^:?-+:?$/.test(cell)) ? "" : filled.join(", ");
}

function stopped(text: string): string {
  return UNENDED.test(text) ? text.replace(/(?<![*_\s])[*_]*\s*$/, ".$&") : text;
}

const FENCE = /^\s*(?:`{3,}|~{3,})[\w+#.-]*\s*$/;
const RULE = /^\s*(?:[-=*_]\s*){3,}$/;
/** `[1]: http://example.org "Title"` */
const ADDRESS_OF_REFERENCE =
  /^\s*\[[^\]]{1,40}\]:\s*<?(?:https?:\/\/|www\.|mailto:|[./#])[^\s<>]+>?(?:\s+["'(].*)?\s*$/;
const QUOTE = /^\s*(?:>\s?)+(?=\s*[^\s\d=])/;
const HEADING = /^\s*#{1,6}\s+(.*?)\s*#*$/;
const BULLET = /^\s*[-*•+–‣◦▪●·]\s+/;
const CHECKBOX = /^\[[ xX]\]\s+/;
/** A capital letter is an item's only with a parenthesis, as "A. Smith" is a name. */
const NUMBER = /^\s*(\*{2}|__)?\(?(\d{1,3}(?=[.)])|[a-z](?=[.)]\s)|[A-Z](?=\)))\\?[.)](?:\*{2}|__)?\s+/;
const UNENDED = /[\p{L}\p{N}\p{Sc}%°)”"'’\]`](?:\*|_)*\s*$/u;
