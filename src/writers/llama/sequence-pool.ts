import type { LlamaContextSequence, Token } from "./llama-runtime.ts";

/** One of llama.cpp's sequences, and what of its cache a prompt may be gone on from. */
export interface CachedSequence {
  readonly sequence: LlamaContextSequence;
  /** The tokens at its beginning that were read in whole pieces of the size that every prompt is read in. */
  read: readonly Token[];
}

/**
 * The sequences of one context, each with what it has read in its cache. They are lent and never disposed: llama.cpp
 * gives a disposed one's place back late.
 */
export class SequencePool {
  readonly #free: CachedSequence[];
  readonly #waiting: { take(sequence: CachedSequence): void }[] = [];

  constructor(sequences: readonly LlamaContextSequence[]) {
    this.#free = sequences.map((sequence) => ({ sequence, read: [] }));
  }

  /** Lends the free sequence that has read most of these tokens, or the next that is given back: first come, first served. */
  async take(tokens: readonly Token[], signal: AbortSignal): Promise<CachedSequence> {
    signal.throwIfAborted();
    const best = this.#nearest(tokens);
    if (best !== undefined) return best;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason);
      };
      const waiter = {
        take: (sequence: CachedSequence) => {
          signal.removeEventListener("abort", onAbort);
          resolve(sequence);
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(waiter);
    });
  }

  giveBack(sequence: CachedSequence): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(sequence);
    else next.take(sequence);
  }

  #nearest(tokens: readonly Token[]): CachedSequence | undefined {
    let best = -1;
    let max = -1;
    for (const [index, { read }] of this.#free.entries()) {
      const shared = sharedStart(read, tokens);
      // Of equals the one that was given back longest ago: what others have read lives on.
      if (shared > max) [best, max] = [index, shared];
    }
    return best === -1 ? undefined : this.#free.splice(best, 1)[0];
  }
}

/** How many tokens two lists begin with alike. */
export function sharedStart(left: readonly Token[], right: readonly Token[]): number {
  const end = Math.min(left.length, right.length);
  let index = 0;
  while (index < end && left[index] === right[index]) index++;
  return index;
}
