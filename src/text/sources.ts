import { isSpaceCode } from "./characters.ts";
import type { Span } from "./traced.ts";

/**
 * Which part of a sentence each of its phonemes comes from. Phonemes are counted without spaces: those come and go while
 * a reading is cut into passages, the others stay in their order.
 */
export class Sources {
  readonly #ends: number[] = [];
  readonly #units: number[] = [];
  readonly #spanOf: (unit: number) => Span;

  /**
   * @param said the phonemes of each unit
   * @param spanOf the part of the sentence that a unit comes from
   */
  constructor(said: readonly string[], spanOf: (unit: number) => Span) {
    this.#spanOf = spanOf;
    let end = 0;
    for (const [unit, phonemes] of said.entries()) {
      const count = soundCount(phonemes);
      if (count === 0) continue;
      end += count;
      this.#ends.push(end);
      this.#units.push(unit);
    }
  }

  /** Where the phonemes [from, to) come from, from the first one's source to the last one's. */
  of(from: number, to: number): Span {
    return {
      from: this.#spanOf(this.#unitAt(from)).from,
      to: this.#spanOf(this.#unitAt(to - 1)).to,
    };
  }

  /** How many phonemes come before a place of the sentence: those of the words that begin before it. */
  before(place: number): number {
    let [low, high] = [0, this.#units.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#spanOf(this.#units[middle]!).from < place) low = middle + 1;
      else high = middle;
    }
    return this.#ends[low - 1] ?? 0;
  }

  #unitAt(sound: number): number {
    let low = 0;
    let high = this.#ends.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ends[middle]! > sound) high = middle;
      else low = middle + 1;
    }
    return this.#units[low]!;
  }
}

/** How many characters of a reading are no spaces. */
export function soundCount(phonemes: string): number {
  let count = 0;
  for (let i = 0; i < phonemes.length; i++) {
    const code = phonemes.charCodeAt(i);
    if (code !== 0x20 && !isSpaceCode(code)) count++;
  }
  return count;
}
