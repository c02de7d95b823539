import type { Word } from "./replies.ts";

/** Something that was said in a realtime conversation. */
export interface RealtimeTurn {
  readonly id: string;
  readonly role: "user" | "assistant";
  /** What is said, as far as it is known. */
  readonly text: string;
  /**
   * `speaking`: it goes on; `recognising`: the user has ended, and the words are to come; `done`; `interrupted`: a reply that
   * was not heard to its end.
   */
  readonly state: "speaking" | "recognising" | "done" | "interrupted";
  /** Of a reply, where the server tells: its words with their times. */
  readonly words: readonly Word[];
  /** Of a reply: milliseconds from the end of what it answers to its first sound, or null where that is not known. */
  readonly latencyMs: number | null;
  /** Of a reply: seconds that were heard before it was interrupted; null of all others. */
  readonly heardS: number | null;
}

/** A turn as it is made. */
export type OpenTurn = { -readonly [Name in keyof RealtimeTurn]: RealtimeTurn[Name] } & { words: Word[] };

export function newTurn(
  id: string,
  role: RealtimeTurn["role"],
  state: RealtimeTurn["state"],
  text: string = "",
): OpenTurn {
  return { id, role, text, state, words: [], latencyMs: null, heardS: null };
}

/** What was heard of a turn: all of it, unless it was interrupted; else the words that had ended by then, where it tells any. */
export function heardText({ text, heardS, words }: RealtimeTurn): string {
  if (heardS === null || (heardS > 0 && words.length === 0)) return text;
  const last = words.findLast(({ end }) => end <= heardS);
  return last === undefined
    ? ""
    : Array.from(text)
        .slice(0, last.offset + last.length)
        .join("");
}
