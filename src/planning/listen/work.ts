/** Long work in small pieces: it yields about every 3 ms of work so that the caller may let others go first. */
export type Work<T> = Generator<void, T, void>;

/** Work that goes no further once the signal has aborted. */
export function* abortableWork<T>(work: Work<T>, signal: AbortSignal): Work<T> {
  for (;;) {
    signal.throwIfAborted();
    const step = work.next();
    if (step.done) return step.value;
    yield;
  }
}
