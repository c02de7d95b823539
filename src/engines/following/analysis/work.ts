import type { PriorityMutex } from "../../prosody/priority-mutex.ts";

/** Long work in small pieces. Yields about every 3 ms of work, so that the caller may let other work go first. */
export type Work<T> = Generator<void, T, void>;

/** Does work in the calling thread, yielding to the event loop between pieces. @throws the signal's reason */
export async function runToEnd<T>(work: Work<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    const step = work.next();
    if (step.done) return step.value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Wraps work so that it throws the signal's reason once it has aborted. */
export function* abortableWork<T>(work: Work<T>, signal: AbortSignal): Work<T> {
  for (;;) {
    signal.throwIfAborted();
    const step = work.next();
    if (step.done) return step.value;
    yield;
  }
}

/** Does work in pieces, each in its turn and after urgent jobs. @throws the signal's reason */
export async function runInterleaved<T>(
  work: Work<T>,
  mutex: PriorityMutex,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    const step = await mutex.pass(async () => work.next(), signal, false);
    if (step.done) return step.value;
    // Lets the event loop queue new jobs first.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
