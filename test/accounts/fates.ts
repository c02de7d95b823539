/** Fate of the thread at its next call. */
export const FATES = { lives: 0, diesBefore: 1, diesAfter: 2 } as const;
