import { abortable } from "../../core/abortable.ts";
import type { LlamaContextSequence, SequenceEvaluateOptions, Token, WorkQueue } from "./llama-runtime.ts";

/**
 * Tokens per prompt batch; other work and cancellation come between batches. The batch size affects the last bits, so
 * every prompt is read in the same batches, whatever is cached.
 */
export const BATCH_TOKENS = 32;

export type Sampling = SequenceEvaluateOptions;

/** One prompt and its reply on a sequence. */
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

  /** Yields the tokens after a prompt, reading only its uncached part. Throws the signal's reason at once. */
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

  /** Reads the uncached whole batches of a prompt; returns the number of tokens read. */
  async read(prompt: readonly Token[]): Promise<number> {
    const cached = this.#cached;
    const { sequence } = cached;
    // The last token is never cached: its logits are needed.
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

  /** Resolves when llama.cpp is idle. Never throws. */
  async end(): Promise<void> {
    await this.#underWay;
    await this.#generation?.return?.().catch(() => {});
  }

  /** Queues one step; returns early when the signal aborts. */
  #turn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.run(() => {
      this.#stop.throwIfAborted();
      return work();
    });
    this.#underWay = turn.catch(() => {});
    return abortable(turn, this.#stop);
  }
}

/** A sequence and the reusable part of its cache. */
export interface CachedSequence {
  readonly sequence: LlamaContextSequence;
  /** Its first tokens, read in whole batches. */
  read: readonly Token[];
}

/**
 * The sequences of one context, with their caches. They are never disposed: llama.cpp frees a disposed one's slot
 * late.
 */
export class SequencePool {
  readonly #free: CachedSequence[];
  readonly #waiting: { take(sequence: CachedSequence): void }[] = [];

  constructor(sequences: readonly LlamaContextSequence[]) {
    this.#free = sequences.map((sequence) => ({ sequence, read: [] }));
  }

  /** Takes the free sequence with the longest cached prefix, or waits for the next, first come, first served. */
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
      // Of equals the least recently used, to keep other caches.
      if (shared > max) [best, max] = [index, shared];
    }
    return best === -1 ? undefined : this.#free.splice(best, 1)[0];
  }
}

export function commonPrefixLength(left: readonly Token[], right: readonly Token[]): number {
  const end = Math.min(left.length, right.length);
  let index = 0;
  while (index < end && left[index] === right[index]) index++;
  return index;
}
