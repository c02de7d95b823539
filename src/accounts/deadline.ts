/**
 * Returns the promise's result, or rejects with `late()` after `ms` and ignores the result. After a blocked event
 * loop, results that have arrived are read before the deadline applies.
 */
export function withinMs<T>(ms: number, promise: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => reject(late()));
    }, ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Returns monotonic milliseconds, comparable across threads. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
