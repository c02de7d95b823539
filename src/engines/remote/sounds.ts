import type { Begun, HeardVoice } from "../../model/speech-model.ts";
import type { Exchange } from "./exchange.ts";
import { TryError } from "./try-error.ts";

/** Some speech as it came. Times in it are from the first sample of its answer. */
export interface Sound extends Begun {
  /** Mono, in [-1, 1], 24 kHz; of any length, also none. */
  readonly samples: Float32Array;
}

/** What there is to say of an answer that has ended as it should. */
export interface SoundsEnd {
  /** `length`: the endpoint cut it short where it was told to. */
  readonly stop: "finished" | "length";
  readonly voice?: HeardVoice;
}

/** Takes an answer apart. Throws {@link TryError} for one that is no speech, and what the exchange throws. */
export type ReadSounds = (exchange: Exchange) => AsyncGenerator<Sound, SoundsEnd, void>;

/** One answer, sound by sound, and no wait in it longer than it may be. */
export class Sounds {
  readonly #exchange: Exchange;
  readonly #sounds: AsyncGenerator<Sound, SoundsEnd, void>;
  readonly #onClose: () => void;
  #first: IteratorResult<Sound, SoundsEnd> | null = null;
  #isClosed = false;

  /** @param onClose called once, when nothing more is taken */
  constructor(exchange: Exchange, read: ReadSounds, onClose: () => void) {
    this.#exchange = exchange;
    this.#sounds = read(exchange);
    this.#onClose = onClose;
  }

  /** Waits for the first samples, so long and no longer. Throws {@link TryError} where none come, and `late` too late. */
  async begin(withinMs: number, late: () => TryError): Promise<void> {
    this.#first = await this.#within(withinMs, late, async () => {
      for (;;) {
        const step = await this.#sounds.next();
        if (step.done) throw new TryError("answered well, and without a sound");
        if (step.value.samples.length > 0) return step;
      }
    });
  }

  /** The next sound, or the end. Throws `late` too late. */
  async next(withinMs: number, late: () => TryError): Promise<IteratorResult<Sound, SoundsEnd>> {
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
    this.#exchange.fail(new TryError("is not listened to any more"));
    this.#sounds.return({ stop: "finished" }).catch(() => {});
    this.#onClose();
  }

  async #within<T>(ms: number, late: () => TryError, wait: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.#exchange.fail(late()), ms);
    try {
      return await wait();
    } finally {
      clearTimeout(timer);
    }
  }
}
