/** Runs work when the queue admits it. Rejects if the work fails or is never admitted. */
export type RunQueued = <T>(work: () => Promise<T>) => Promise<T>;
