import { characterCount, isSpaceCode } from "../characters.ts";
import type { TextRange } from "../rewritten-text.ts";
import type { TextTables } from "../tables/text-tables.ts";

/** Maps phonemes to the acoustic model's ids, between two 0. Unknown phonemes are dropped. */
export function phonemeIds(phonemes: string, tables: Pick<TextTables, "vocabulary">): number[] {
  const ids = [0];
  for (const phoneme of phonemes) {
    const id = tables.vocabulary.get(phoneme);
    if (id !== undefined) ids.push(id);
  }
  ids.push(0);
  return ids;
}

/**
 * Splits phonemes into clauses of at most `limit`, after `, ; : —`. A longer clause stays whole up to `hardLimit`,
 * beyond which it is split at a space or anywhere.
 */
export function splitClauses(phonemes: string, limit = 400, hardLimit = Number.POSITIVE_INFINITY): string[] {
  if (phonemes === "") return [];
  if (characterCount(phonemes) <= Math.min(limit, hardLimit)) return [phonemes];
  const clauses: string[] = [];
  let clause = "";
  for (const part of partsOf(phonemes)) {
    if (clause !== "" && clause.length + 1 + part.length > limit) {
      clauses.push(clause);
      clause = "";
    }
    clause = clause === "" ? part : `${clause} ${part}`;
  }
  if (clause !== "") clauses.push(clause);
  return clauses.flatMap((long) => cut(long, hardLimit));
}

/** Restores the final mark that a reading lost to an abbreviation ("5 p.m."). Without it the voice does not fall. */
export function withClosingStop(phonemes: string, sentence: string): string {
  if (phonemes === "") return "";
  const mark = lastBeforeClosing(sentence);
  const spoken = lastBeforeClosing(phonemes);
  return ".!?…".includes(mark) && !";:,.!?—…".includes(spoken) ? phonemes + mark : phonemes;
}

function partsOf(phonemes: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 1; at < phonemes.length; at++) {
    if (!isSpaceCode(phonemes.charCodeAt(at)) || !",;:—".includes(phonemes.charAt(at - 1))) continue;
    parts.push(phonemes.slice(start, at));
    while (at < phonemes.length && isSpaceCode(phonemes.charCodeAt(at))) at++;
    start = at;
  }
  parts.push(phonemes.slice(start));
  return parts;
}

function cut(clause: string, limit: number): string[] {
  const pieces: string[] = [];
  let rest = clause;
  while (rest.length > limit) {
    const space = rest.lastIndexOf(" ", limit);
    const at = space > 0 ? space : limit;
    pieces.push(rest.slice(0, at));
    rest = rest.slice(at).trimStart();
  }
  if (rest !== "") pieces.push(rest);
  return pieces;
}

function lastBeforeClosing(text: string): string {
  let end = text.length;
  while (end > 0 && (isSpaceCode(text.charCodeAt(end - 1)) || "\"”’')]".includes(text.charAt(end - 1))))
    end--;
  return text.charAt(Math.max(0, end - 1));
}

/**
 * Maps the phonemes of a sentence to its text. Phonemes are counted without spaces, which change when a reading is
 * split.
 */
export class PhonemeSources {
  readonly #ends: number[] = [];
  readonly #units: number[] = [];
  readonly #spanOf: (unit: number) => TextRange;

  /**
   * @param said phonemes of each unit
   * @param spanOf returns the text of a unit
   */
  constructor(said: readonly string[], spanOf: (unit: number) => TextRange) {
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

  of(from: number, to: number): TextRange {
    return {
      from: this.#spanOf(this.#unitAt(from)).from,
      to: this.#spanOf(this.#unitAt(to - 1)).to,
    };
  }

  /** Counts the phonemes of words that begin before a position. */
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

export function soundCount(phonemes: string): number {
  let count = 0;
  for (let i = 0; i < phonemes.length; i++) {
    const code = phonemes.charCodeAt(i);
    if (code !== 0x20 && !isSpaceCode(code)) count++;
  }
  return count;
}
