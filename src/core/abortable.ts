/**
 * Waits for `promise`, or throws the signal's reason as soon as it aborts. The promise keeps running; a later failure
 * of it is ignored. Leaves no listener on the signal.
 */
export async function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
