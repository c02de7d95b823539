import type { FollowedVoice, SpeechEvents } from "../../core/speech-model.ts";
import { AttemptError } from "./attempt-error.ts";
import type { HttpExchange } from "./http-exchange.ts";

/** Some speech as it came. Times in it are from the first sample of its answer. */
export interface SpeechChunk extends SpeechEvents {
  /** Mono, in [-1, 1], 24 kHz; of any length, also none. */
  readonly samples: Float32Array;
}

/** What there is to say of an answer that has ended as it should. */
export interface SpeechEnd {
  /** `length`: the endpoint cut it short where it was told to. */
  readonly stop: "finished" | "length";
  readonly voice?: FollowedVoice;
}

/** Takes an answer apart. Throws {@link AttemptError} for one that is no speech, and what the exchange throws. */
export type ReadSpeech = (exchange: HttpExchange) => AsyncGenerator<SpeechChunk, SpeechEnd, void>;

/** One answer, sound by sound, and no wait in it longer than it may be. */
export class SpeechChunks {
  readonly #exchange: HttpExchange;
  readonly #sounds: AsyncGenerator<SpeechChunk, SpeechEnd, void>;
  readonly #onClose: () => void;
  #first: IteratorResult<SpeechChunk, SpeechEnd> | null = null;
  #isClosed = false;

  /** @param onClose called once, when nothing more is taken */
  constructor(exchange: HttpExchange, read: ReadSpeech, onClose: () => void) {
    this.#exchange = exchange;
    this.#sounds = read(exchange);
    this.#onClose = onClose;
  }

  /** Waits for the first samples, so long and no longer. Throws {@link AttemptError} where none come, and `late` too late. */
  async begin(withinMs: number, late: () => AttemptError): Promise<void> {
    this.#first = await this.#within(withinMs, late, async () => {
      for (;;) {
        const step = await this.#sounds.next();
        if (step.done) throw new AttemptError("answered well, and without a sound");
        if (step.value.samples.length > 0) return step;
      }
    });
  }

  /** The next sound, or the end. Throws `late` too late. */
  async next(withinMs: number, late: () => AttemptError): Promise<IteratorResult<SpeechChunk, SpeechEnd>> {
    if (this.#first !== null) {
      const first = this.#first;
      this.#first = null;
      return first;
    }
    return this.#within(withinMs, late, () => this.#sounds.next());
  }

  /** Takes no more of it: an answer that has not ended is broken off. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#exchange.fail(new AttemptError("is not listened to any more"));
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
