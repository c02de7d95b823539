import type { WordTiming } from "../../contract/spoken.ts";

/** Times of characters, in ElevenLabs' form. */
export interface Alignment {
  readonly chars: readonly string[];
  readonly charStartTimesMs: readonly number[];
  readonly charDurationsMs: readonly number[];
}

/**
 * Spreads the times of words over the characters of a text. Punctuation after a word is given with it, up to the next
 * space, and takes no time; characters before a word share the gap before it.
 */
export class CharacterAlignment {
  /** Characters that no alignment holds yet, and the position of the first in the text. */
  readonly #chars: string[] = [];
  #at = 0;
  /** End of the words taken so far, and of the characters given, in milliseconds of the speech. */
  #endMs = 0;
  #givenMs = 0;
  readonly #countsFromStart: boolean;

  /** @param countsFromStart whether times count from the start of the speech; else from the end of the last alignment */
  constructor(countsFromStart: boolean) {
    this.#countsFromStart = countsFromStart;
  }

  /** Adds a sentence, with the space before it. Clients take a word as complete at a space, so one follows the last. */
  addSentence(sentence: string): void {
    const hasSpace = sentence.startsWith(" ");
    if (!hasSpace) this.#chars.pop();
    this.#chars.push(...(hasSpace ? sentence.slice(1) : sentence), " ");
  }

  /** Returns the characters up to the last of the next words; `null` if there are none. */
  take(words: readonly WordTiming[]): Alignment | null {
    const [chars, starts, durations]: [string[], number[], number[]] = [[], [], []];
    const fromMs = this.#countsFromStart ? 0 : this.#givenMs;
    const spread = (count: number, toMs: number): void => {
      const startMs = this.#endMs;
      this.#endMs = Math.max(startMs, Math.round(toMs));
      const edgeMs = (index: number) => startMs + Math.round(((this.#endMs - startMs) * index) / count);
      for (const [index, char] of this.#chars.splice(0, Math.max(0, count)).entries()) {
        chars.push(char);
        starts.push(edgeMs(index) - fromMs);
        this.#givenMs = edgeMs(index + 1);
        durations.push(this.#givenMs - edgeMs(index));
        this.#at += 1;
      }
    };
    for (const { offset, length, start, end } of words) {
      if (length === 0) continue;
      spread(offset - this.#at, 1_000 * start);
      spread(offset + length - this.#at, 1_000 * end);
      const next = this.#chars.findIndex((char) => WORD_OR_SPACE.test(char));
      spread(next + (this.#chars[next]?.trim() === "" ? 1 : 0), this.#endMs);
    }
    return chars.length === 0 ? null : { chars, charStartTimesMs: starts, charDurationsMs: durations };
  }
}

const WORD_OR_SPACE = /[\p{L}\p{N}\s]/u;
