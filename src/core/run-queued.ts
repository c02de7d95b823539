/** Runs work when its caller gets a turn. Rejects as the work does, or if no turn comes. */
export type RunQueued = <T>(work: () => Promise<T>) => Promise<T>;
