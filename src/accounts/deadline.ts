/**
 * The result of a promise, unless that takes longer: then rejects with `late()`, and what comes afterwards is ignored. Who
 * was kept from looking in time, by a busy event loop, looks once more before it is too late.
 */
export function withinMs<T>(ms: number, promise: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      // What has arrived by now is read between the timers and this.
      setImmediate(() => reject(late()));
    }, ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The machine's monotonic time in milliseconds, the same in every thread. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
