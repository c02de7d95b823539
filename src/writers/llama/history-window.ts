import type { Turn } from "../../model/conversation.ts";

export interface WindowOptions {
  /** Characters of text that are kept at most; the newest turn always is. */
  readonly maxChars: number;
  /** The window moves on by so many characters at once, and not with every turn. */
  readonly stepChars: number;
}

/**
 * The newest turns of a history. As a conversation grows the window's start stays where it is for a few turns, so that
 * a language model need not read again what it has in its cache.
 */
export function historyWindow(
  history: readonly Turn[],
  { maxChars, stepChars }: WindowOptions,
): readonly Turn[] {
  const total = history.reduce((sum, turn) => sum + charsOf(turn), 0);
  if (total <= maxChars) return history;
  const excess = Math.ceil((total - maxChars) / stepChars) * stepChars;
  let dropped = 0;
  let first = 0;
  while (dropped < excess && first < history.length - 1) dropped += charsOf(history[first++]);
  return history.slice(first);
}

function charsOf(turn: Turn | undefined): number {
  return turn?.text?.length ?? 0;
}
