import { abortable } from "../../model/abortable.ts";
import type { LlamaContextSequence, SequenceEvaluateOptions, Token } from "./llama-runtime.ts";
import type { Turns } from "./turns.ts";

/** Tokens of a prompt that are read at once: between two such pieces others have their turn, and a signal is heard. */
export const CHUNK_TOKENS = 64;

/** How the next token is chosen. */
export type Sampling = SequenceEvaluateOptions;

/** A sequence while it reads one prompt and goes on with it. */
export class Reading {
  readonly #sequence: LlamaContextSequence;
  readonly #turns: Turns;
  readonly #stop: AbortSignal;
  #underWay: Promise<unknown> = Promise.resolve();
  #generation: AsyncIterator<Token, void> | null = null;

  constructor(sequence: LlamaContextSequence, turns: Turns, stop: AbortSignal) {
    this.#sequence = sequence;
    this.#turns = turns;
    this.#stop = stop;
  }

  /** The tokens after a prompt, of which only what is new to the sequence is read. Throws the signal's reason at once. */
  async *goOn(prompt: readonly Token[], sampling: Sampling): AsyncGenerator<Token, void, void> {
    const sequence = this.#sequence;
    await this.#step(() => sequence.adaptStateToTokens(prompt.slice(0, -1), false));
    let read = sequence.nextTokenIndex;
    for (; prompt.length - read > CHUNK_TOKENS; read += CHUNK_TOKENS) {
      const chunk = prompt.slice(read, read + CHUNK_TOKENS);
      await this.#step(() => sequence.evaluateWithoutGeneratingNewTokens(chunk));
    }
    const generation = sequence.evaluate(prompt.slice(read), sampling)[Symbol.asyncIterator]();
    this.#generation = generation;
    for (;;) {
      const { value, done } = await this.#step(() => generation.next());
      if (done === true) return;
      yield value;
    }
  }

  /** Resolves when llama.cpp has ended what it was at. Never throws. */
  async end(): Promise<void> {
    await this.#underWay;
    await this.#generation?.return?.().catch(() => {});
  }

  /** Does one piece of work when it is its turn, and leaves it to itself when the signal aborts. */
  #step<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turns.take(() => {
      this.#stop.throwIfAborted();
      return work();
    });
    this.#underWay = turn.catch(() => {});
    return abortable(turn, this.#stop);
  }
}
