import { strip } from "../characters.ts";

/** Lines are wrapped by hand or by a mail program at 60 to 100 characters mostly; shorter ones were meant as they are. */
const MIN_WRAPPED_CHARS = 58;
const MAX_WRAPPED_CHARS = 120;
/** What begins a line of its own: items, quotations, headings, tables. */
const OWN_LINE = /^(?:[-*+•‣·▪–—>|#]|\d{1,3}[.)] |[a-zA-Z][.)] |\[[ xX]?\])/u;
/** What ends one: a colon before a list, a salutation's comma stays with its text. */
const ENDS_LINE = /[:|]$/u;
const SMALL = /^[\p{Ll}("“‘]*\p{Ll}/u;

/**
 * A text of the same length in which a new line is a space wherever it only wraps a paragraph, as in e-mail: before a
 * line that begins small, and behind a full line that the next word would not have fitted on. Linear.
 */
export function withoutWraps(text: string): string {
  if (!text.includes("\n")) return text;
  const lines = text.split("\n");
  let joined = lines[0] ?? "";
  let maxWidth = widthOf(lines, 0);
  for (let i = 1; i < lines.length; i++) {
    const before = strip(lines[i - 1] ?? "");
    const line = lines[i] ?? "";
    if (before === "") maxWidth = widthOf(lines, i);
    joined += (isWrapped(before, strip(line), maxWidth) ? " " : "\n") + line;
  }
  return joined;
}

function isWrapped(before: string, line: string, maxWidth: number): boolean {
  if (before === "" || line === "" || OWN_LINE.test(line) || ENDS_LINE.test(before)) return false;
  const isFull = before.length >= MIN_WRAPPED_CHARS / 2 || before.endsWith(",");
  if (isFull && SMALL.test(line.slice(0, 12)) && !/[.!?…]["”’')]?$/u.test(before)) return true;
  if (maxWidth < MIN_WRAPPED_CHARS || maxWidth > MAX_WRAPPED_CHARS) return false;
  const word = line.indexOf(" ");
  const needed = before.length + 1 + (word < 0 ? line.length : word);
  return needed > maxWidth;
}

/** The longest line of the paragraph that begins with a line. */
function widthOf(lines: readonly string[], start: number): number {
  let maxWidth = 0;
  for (let i = start; i < lines.length; i++) {
    const { length } = strip(lines[i] ?? "");
    if (length === 0) break;
    maxWidth = Math.max(maxWidth, length);
  }
  return maxWidth;
}
