import type { TextPiece } from "../../core/marked-text.ts";

/** A text with its marks read. */
export interface ReadMarks {
  readonly piece: TextPiece;
  /** Code points of what is spoken: marks are none of it. */
  readonly spokenChars: number;
  /** What the marks ask for and is not done whoever speaks, each in a few words; few, and in ASCII. */
  readonly cautions: readonly string[];
}

/**
 * Finds the voice that a text names, of several names the first that there is: what its runs are to call it. Throws where there
 * is none, with words that say so.
 *
 * @param place where it is named, as {@link placeIn} says it
 */
export type FindVoice = (names: readonly string[], place: string) => string;

/** What is wrong with the marks of a text, and where. The message says what to do; it is a sentence without its full stop. */
export class MarkupError extends Error {
  override readonly name = "MarkupError";

  /** @param at place in the text, in UTF-16 units */
  constructor(text: string, at: number, problem: string) {
    super(`${placeIn(text, at)}: ${problem}`);
  }
}

/** A place as editors count it: lines and code points from 1. */
export function placeIn(text: string, at: number): string {
  const before = text.slice(0, at);
  const lineFrom = Math.max(before.lastIndexOf("\n"), before.lastIndexOf("\r")) + 1;
  const line = before.split(/\r\n|\n|\r/).length;
  return `line ${line}, column ${Array.from(before.slice(lineFrom)).length + 1}`;
}
