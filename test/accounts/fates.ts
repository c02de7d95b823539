/** What becomes of the thread of the next call, as the cell that a test shares with it says. */
export const FATES = { lives: 0, diesBefore: 1, diesAfter: 2 } as const;
