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
  /** Of a reply: milliseconds of its sound that have come, and whether that is all. */
  readonly soundMs: number;
  readonly isWhole: boolean;
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
  return { id, role, text, state, words: [], soundMs: 0, isWhole: false, latencyMs: null, heardS: null };
}

/** What was heard of a turn, which is what the server's history keeps of it (`realtime/spoken-reply.ts` has the same rule). */
export function heardText({ text, heardS, words, soundMs, isWhole }: RealtimeTurn): string {
  if (heardS === null) return text;
  const heardMs = Math.floor(Math.min(Math.floor(1_000 * heardS), soundMs));
  const hasWords = words.length > 0;
  if (heardMs >= soundMs && (isWhole || !hasWords)) return text;
  const letters = Array.from(text);
  if (!hasWords) {
    const share = letters.slice(0, Math.floor((letters.length * heardMs) / soundMs)).join("");
    return share.slice(0, Math.max(0, share.lastIndexOf(" ")));
  }
  const last = words.findLast(({ end }) => Math.round(1_000 * end) <= heardMs);
  if (last === undefined) return "";
  // What is written right behind a word belongs to it: a comma, a full stop.
  let end = last.offset + last.length;
  while (end < letters.length && /[^\s\p{L}\p{N}]/u.test(letters[end]!)) end += 1;
  return letters.slice(0, end).join("");
}
