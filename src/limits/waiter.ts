/** Somebody who waits to be let in, and what it is told: once, whatever happens first. */
export interface Waiter<T> {
  readonly key: string;
  admit(value: T): void;
  refuse(error: unknown): void;
}

export interface WaitTerms {
  readonly key: string;
  readonly signal: AbortSignal;
  /** Longest wait, in milliseconds, and what is thrown after it; without either, as long as it takes. */
  readonly limit?: { readonly waitMs: number; readonly late: () => unknown };
}

/**
 * Waits to be let in. `enter` puts the waiter in its line, `leave` takes it out; both are called once. Throws the
 * signal's reason, what {@link WaitTerms.limit} says, or what {@link Waiter.refuse} was given.
 */
export function waited<T>(
  { key, signal, limit }: WaitTerms,
  enter: (waiter: Waiter<T>) => void,
  leave: (waiter: Waiter<T>) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      leave(waiter);
    };
    const waiter: Waiter<T> = {
      key,
      admit(value) {
        settle();
        resolve(value);
      },
      refuse(error) {
        settle();
        reject(error);
      },
    };
    const onAbort = (): void => waiter.refuse(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (limit !== undefined) timer = setTimeout(() => waiter.refuse(limit.late()), limit.waitMs);
    enter(waiter);
  });
}
