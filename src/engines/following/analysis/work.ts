/** Long work in small pieces: it yields about every 3 ms of work so that the caller may let others go first. */
export type Work<T> = Generator<void, T, void>;

/** Does work in the calling thread, letting others go between its pieces. @throws the signal's reason */
export async function workedOff<T>(work: Work<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    const step = work.next();
    if (step.done) return step.value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Work that goes no further once the signal has aborted. */
export function* abortableWork<T>(work: Work<T>, signal: AbortSignal): Work<T> {
  for (;;) {
    signal.throwIfAborted();
    const step = work.next();
    if (step.done) return step.value;
    yield;
  }
}
