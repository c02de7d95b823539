import type { LlamaContextSequence, Token } from "./llama-runtime.ts";

/**
 * The sequences of one context, each with what it has read in its cache. They are lent and never disposed: llama.cpp
 * gives a disposed one's place back late.
 */
export class SequencePool {
  readonly #free: LlamaContextSequence[];
  readonly #waiting: { tokens: readonly Token[]; take(sequence: LlamaContextSequence): void }[] = [];

  constructor(sequences: readonly LlamaContextSequence[]) {
    this.#free = [...sequences];
  }

  /** Lends the free sequence that has read most of these tokens, or the next that is given back: first come, first served. */
  async take(tokens: readonly Token[], signal: AbortSignal): Promise<LlamaContextSequence> {
    signal.throwIfAborted();
    const best = this.#nearest(tokens);
    if (best !== undefined) return best;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason);
      };
      const waiter = {
        tokens,
        take: (sequence: LlamaContextSequence) => {
          signal.removeEventListener("abort", onAbort);
          resolve(sequence);
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(waiter);
    });
  }

  giveBack(sequence: LlamaContextSequence): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(sequence);
    else next.take(sequence);
  }

  #nearest(tokens: readonly Token[]): LlamaContextSequence | undefined {
    let best = -1;
    let most = -1;
    for (const [index, sequence] of this.#free.entries()) {
      const shared = sharedStart(sequence.contextTokens, tokens);
      // Of equals the one that was given back longest ago: what others have read lives on.
      if (shared > most) [best, most] = [index, shared];
    }
    return best === -1 ? undefined : this.#free.splice(best, 1)[0];
  }
}

function sharedStart(left: readonly Token[], right: readonly Token[]): number {
  const end = Math.min(left.length, right.length);
  let index = 0;
  while (index < end && left[index] === right[index]) index++;
  return index;
}
