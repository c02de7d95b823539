import { abortable } from "../../core/abortable.ts";
import type { SequenceEvaluateOptions, Token, WorkQueue } from "./llama-runtime.ts";
import { type CachedSequence, sharedStart } from "./sequence-pool.ts";

/**
 * Tokens of a prompt that are read at once. Between two such pieces others have their turn, and a signal is heard. How
 * many are read at once shows in the last bits, so every prompt is read in the same pieces, whatever is in a cache.
 */
export const PIECE_TOKENS = 32;

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
    const known = sharedStart(cached.read, prompt.slice(0, -1));
    let read = known - (known % PIECE_TOKENS);
    cached.read = prompt.slice(0, read);
    await this.#turn(() => sequence.adaptStateToTokens(prompt.slice(0, read), false));
    for (; prompt.length - read > PIECE_TOKENS; read += PIECE_TOKENS) {
      const piece = prompt.slice(read, read + PIECE_TOKENS);
      await this.#turn(() => sequence.evaluateWithoutGeneratingNewTokens(piece));
      cached.read = prompt.slice(0, read + PIECE_TOKENS);
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
