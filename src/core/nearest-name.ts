/** Returns the candidate that a misspelt name most likely means, or `null` if none is close. */
export function nearestName(name: string, candidates: readonly string[]): string | null {
  const limit = Math.max(1, Math.floor(name.length / 4));
  let best: string | null = null;
  let bestDistance = limit + 1;
  for (const candidate of candidates) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/**
 * Returns advice on an unknown setting, to complete a sentence.
 * @param otherwise advice if no name is close
 */
export function remedyFor(meant: string | null, otherwise: string): string {
  return meant === null ? `${otherwise} (docs/settings.md lists them all).` : `did you mean ${meant}?`;
}

/**
 * Damerau's edit distance (1964; optimal string alignment): insertions, deletions, substitutions and swaps of
 * neighbours.
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, substitution);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) row[j] = Math.min(row[j]!, beforeLast[j - 2]! + 1);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
