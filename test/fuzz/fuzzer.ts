/** Returns numbers in [0, 1). */
export type Random = () => number;

export interface Fuzzer {
  /**
   * Makes an input and tries it. Throws if it finds a fault.
   *
   * @param activeMs returns the thread's active milliseconds; absent if time is not checked
   */
  run(random: Random, activeMs?: () => number): Promise<void>;
  /** Makes an input of bytes, which the corpus can keep and {@link Fuzzer.check} tries again. */
  readonly make?: (random: Random) => Uint8Array;
  readonly check?: (input: Uint8Array) => Promise<void>;
  close(): Promise<void>;
}

/** Mulberry32, which depends only on its seed. */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
