/** Longest phrase that is looked for, in tokens. */
const MAX_PHRASE_TOKENS = 32;

/**
 * Whether the last tokens repeat a phrase: three times, or six if it is of one or two tokens. @returns its length, 0 where none does
 */
export function repeatedPhrase(ids: readonly number[]): number {
  for (let length = 1; length <= MAX_PHRASE_TOKENS; length++) {
    const times = length < 3 ? 6 : 3;
    if (ids.length >= times * length && repeatsFor(ids, length) >= length * (times - 1)) return length;
  }
  return 0;
}

/** Tokens in which whatever was just said is said once: of a phrase that follows itself, one is kept. */
export function withoutRepeats(ids: readonly number[]): number[] {
  const kept: number[] = [];
  for (const id of ids) {
    kept.push(id);
    for (let length = 1; 2 * length <= kept.length; length++) {
      if (repeatsFor(kept, length) < length) continue;
      kept.length -= length;
      break;
    }
  }
  return kept;
}

/** How many tokens stand before the first repetition of the phrase of that length that the list ends with. */
export function lengthBeforeRepeat(ids: readonly number[], phrase: number): number {
  return ids.length - repeatsFor(ids, phrase);
}

/** How many of the last tokens are the same as those `length` before them. */
function repeatsFor(ids: readonly number[], length: number): number {
  let count = 0;
  for (let at = ids.length - 1; at >= length && ids[at] === ids[at - length]; at--) count++;
  return count;
}
