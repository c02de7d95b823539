import { abortable } from "../../core/abortable.ts";
import type { LlamaContextSequence, SequenceEvaluateOptions, Token, WorkQueue } from "./llama-runtime.ts";

/**
 * Tokens of a prompt that are read at once. Between two such pieces others have their turn, and a signal is heard. How
 * many are read at once shows in the last bits, so every prompt is read in the same pieces, whatever is in a cache.
 */
export const BATCH_TOKENS = 32;

/** How the next token is chosen. */
export type Sampling = SequenceEvaluateOptions;

/** A sequence while it reads one prompt and writes what follows it. */
export class Generation {
  readonly #cached: CachedSequence;
  readonly #queue: WorkQueue;
  readonly #stop: AbortSignal;
  #underWay: Promise<unknown> = Promise.resolve();
  #generation: AsyncIterator<Token, void> | null = null;

  constructor(cached: CachedSequence, queue: WorkQueue, stop: AbortSignal) {
    this.#cached = cached;
    this.#queue = queue;
    this.#stop = stop;
  }

  /** The tokens after a prompt, of which only what is new to the sequence is read. Throws the signal's reason at once. */
  async *tokensAfter(prompt: readonly Token[], sampling: Sampling): AsyncGenerator<Token, void, void> {
    const read = await this.read(prompt);
    const { sequence } = this.#cached;
    const generation = sequence.evaluate(prompt.slice(read), sampling);
    this.#generation = generation;
    for (;;) {
      const { value, done } = await this.#turn(() => generation.next());
      if (done === true) return;
      yield value;
    }
  }

  /** Reads what is new of a prompt, but for what does not fill a piece, and gives how many of its tokens are read then. */
  async read(prompt: readonly Token[]): Promise<number> {
    const cached = this.#cached;
    const { sequence } = cached;
    // The last token is never in a piece that is kept: what comes after it is asked for with it.
    const known = commonPrefixLength(cached.read, prompt.slice(0, -1));
    let read = known - (known % BATCH_TOKENS);
    cached.read = prompt.slice(0, read);
    await this.#turn(() => sequence.adaptStateToTokens(prompt.slice(0, read), false));
    for (; prompt.length - read > BATCH_TOKENS; read += BATCH_TOKENS) {
      const piece = prompt.slice(read, read + BATCH_TOKENS);
      await this.#turn(() => sequence.evaluateWithoutGeneratingNewTokens(piece));
      cached.read = prompt.slice(0, read + BATCH_TOKENS);
    }
    return read;
  }

  /** Resolves when llama.cpp has ended what it was at. Never throws. */
  async end(): Promise<void> {
    await this.#underWay;
    await this.#generation?.return?.().catch(() => {});
  }

  /** Does one piece of work when it is its turn, and leaves it to itself when the signal aborts. */
  #turn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.run(() => {
      this.#stop.throwIfAborted();
      return work();
    });
    this.#underWay = turn.catch(() => {});
    return abortable(turn, this.#stop);
  }
}

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

  release(sequence: CachedSequence): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(sequence);
    else next.take(sequence);
  }

  #nearest(tokens: readonly Token[]): CachedSequence | undefined {
    let best = -1;
    let max = -1;
    for (const [index, { read }] of this.#free.entries()) {
      const shared = commonPrefixLength(read, tokens);
      // Of equals the one that was given back longest ago: what others have read lives on.
      if (shared > max) [best, max] = [index, shared];
    }
    return best === -1 ? undefined : this.#free.splice(best, 1)[0];
  }
}

/** How many tokens two lists begin with alike. */
export function commonPrefixLength(left: readonly Token[], right: readonly Token[]): number {
  const end = Math.min(left.length, right.length);
  let index = 0;
  while (index < end && left[index] === right[index]) index++;
  return index;
}
