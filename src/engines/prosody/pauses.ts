import { LAST_MARK_ID } from "./spoken-words.ts";

/**
 * Silence from the last sound of a sentence to the first one of the next, in seconds.
 *
 * @param endsParagraph whether a paragraph ends there
 */
export function pauseS(text: string, endsParagraph: boolean): number {
  const mark = /[.!?…:;,—][^\p{L}\p{N}]*$/u.exec(text)?.[0] ?? "";
  const isTrailingOff = mark.startsWith("…") || mark.startsWith("...");
  const lengthS = isTrailingOff ? ELLIPSIS_S : markPauseS(mark.charAt(0));
  return endsParagraph ? Math.max(lengthS, PARAGRAPH_S) : lengthS;
}

/** The same where the sentence goes on, because it was too long for one breath. @param ids its phonemes up to there */
export function clausePauseS(ids: readonly number[]): number {
  return PAUSE_OF_ID_S.get(ids.findLast((id) => id !== 0 && id !== LAST_MARK_ID) ?? 0) ?? CLAUSE_S;
}

/** Silence at a mark, in seconds. */
export function markPauseS(mark: string): number {
  return PAUSE_S.get(mark) ?? PLAIN_S;
}

/** Silence after the very last sound, in seconds. */
export const TAIL_S = 0.2;

const PAUSE_S: ReadonlyMap<string, number> = new Map([
  [".", 0.4],
  ["!", 0.38],
  ["?", 0.43],
  [":", 0.32],
  [";", 0.32],
  ["—", 0.25],
  [",", 0.22],
]);
const PLAIN_S = 0.4;
const ELLIPSIS_S = 0.6;
const PARAGRAPH_S = 0.7;
const CLAUSE_S = 0.18;

/** Silence at `; : —` inside a sentence, by their ids in voices/heart/vocab.json. */
export const PAUSE_OF_ID_S: ReadonlyMap<number, number> = new Map([
  [1, markPauseS(";")],
  [2, markPauseS(":")],
  [9, markPauseS("—")],
]);
