/** Numbers in [0, 1), the same for the same seed. */
export type Random = () => number;

/** Tries one thing with inputs that nobody thought of. */
export interface Fuzzer {
  /**
   * Makes an input of the numbers and tries it. Throws what is wrong with what came of it.
   *
   * @param activeMs milliseconds for which the thread has worked so far: absent where time is not to be judged
   */
  run(random: Random, activeMs?: () => number): Promise<void>;
  /** The input alone, where it is bytes that can be kept, and tried again by {@link Fuzzer.check}. */
  readonly make?: (random: Random) => Uint8Array;
  readonly check?: (input: Uint8Array) => Promise<void>;
  /** Frees what trying took. */
  close(): Promise<void>;
}

/** Mulberry32: one number of state, and good enough to choose by. */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
