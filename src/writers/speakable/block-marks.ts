/**
 * Returns a line without the marks of a heading, a bulleted item, a quotation, a table's row, a fence, a rule or a link's
 * address. Such a line ends in a full stop then, so that it does not run into the next. Numbers of items are spoken.
 */
export function withoutBlockMarks(line: string): string {
  if (FENCE.test(line) || RULE.test(line) || ADDRESS_OF_REFERENCE.test(line)) return "";
  const quoted = line.replace(QUOTE, "");
  const row = cellsOf(quoted);
  if (row !== null) return stopped(row);
  const item = quoted.replace(HEADING, "$1").replace(BULLET, "").replace(CHECKBOX, "");
  return item === quoted && !NUMBERED.test(item) ? item : stopped(item);
}

/** Returns a table's row as one sentence; `null` if the line is no row. */
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
const ADDRESS_OF_REFERENCE = /^\s*\[\^?\d{1,3}\]:\s*<?(?:https?:\/\/|www\.)[^\s<>]+>?(?:\s+["'(].*)?\s*$/;
const QUOTE = /^\s*(?:>\s?)+(?=\s*[^\s\d=])/;
const HEADING = /^\s*#{1,6}\s+(.*?)(?:\s+#+)?\s*$/;
/** Before a number, a dash or a plus is its sign. */
const BULLET = /^\s*(?:[*•‣◦▪●·]|[-+–](?!\s+[\d\p{Sc}]))\s+/u;
const CHECKBOX = /^\[[ xX]\]\s+/;
const NUMBERED = /^\s*\(?\d{1,3}[.)]\s/;
const UNENDED = /[\p{L}\p{N}\p{Sc}%°)”"'’\]`#](?:\*|_)*\s*$/u;
