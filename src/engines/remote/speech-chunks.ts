import type { FollowedVoice, SpeechEvents } from "../../core/speech-model.ts";
import { AttemptError } from "./attempt-error.ts";
import type { HttpExchange } from "./http-exchange.ts";

/** Some received speech. Times are relative to the start of its response. */
export interface SpeechChunk extends SpeechEvents {
  /** Mono, in [-1, 1], at 24 kHz; may be empty. */
  readonly samples: Float32Array;
}

export interface SpeechEnd {
  /** `length`: the endpoint reached its frame limit. */
  readonly stop: "finished" | "length";
  readonly voice?: FollowedVoice;
}

/** Reads a response. Throws {@link AttemptError} for other data, and errors of the exchange. */
export type ReadSpeech = (exchange: HttpExchange) => AsyncGenerator<SpeechChunk, SpeechEnd, void>;

/** A response in chunks, with a timeout for each. */
export class SpeechChunks {
  readonly #exchange: HttpExchange;
  readonly #sounds: AsyncGenerator<SpeechChunk, SpeechEnd, void>;
  readonly #onClose: () => void;
  #first: IteratorResult<SpeechChunk, SpeechEnd> | null = null;
  #isClosed = false;

  constructor(exchange: HttpExchange, read: ReadSpeech, onClose: () => void) {
    this.#exchange = exchange;
    this.#sounds = read(exchange);
    this.#onClose = onClose;
  }

  /** Waits for the first samples. Throws {@link AttemptError} if there are none, and `late()` after the timeout. */
  async begin(withinMs: number, late: () => AttemptError): Promise<void> {
    this.#first = await this.#within(withinMs, late, async () => {
      for (;;) {
        const step = await this.#sounds.next();
        if (step.done) throw new AttemptError("answered without audio");
        if (step.value.samples.length > 0) return step;
      }
    });
  }

  /** Returns the next chunk, or the end. Throws `late()` after the timeout. */
  async next(withinMs: number, late: () => AttemptError): Promise<IteratorResult<SpeechChunk, SpeechEnd>> {
    if (this.#first !== null) {
      const first = this.#first;
      this.#first = null;
      return first;
    }
    return this.#within(withinMs, late, () => this.#sounds.next());
  }

  /** Stops reading, which cancels an incomplete response. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#exchange.fail(new AttemptError("is no longer needed"));
    this.#sounds.return({ stop: "finished" }).catch(() => {});
    this.#onClose();
  }

  async #within<T>(ms: number, late: () => AttemptError, wait: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#exchange.fail(late()), ms);
    try {
      return await wait();
    } finally {
      clearTimeout(timer);
    }
  }
}
