/** Long work in small pieces: it yields about every 3 ms of work so that the caller may let others go first. */
export type Work<T> = Generator<void, T, void>;

/** Runs work to its end at once. */
export function finish<T>(work: Work<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
