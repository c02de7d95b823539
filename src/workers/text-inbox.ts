import type { TextPiece } from "../core/marked-text.ts";
import { SpeechFailedError } from "../core/speech-model.ts";
import type { TextItem } from "./protocol.ts";

/** What an inbox tells of its reader. */
export interface TextInboxEvents {
  /** A piece is wanted that nobody has asked for yet. */
  onPull(): void;
  /** The reader waits for a piece. */
  onWait(): void;
}

interface Waiter {
  resolve(result: IteratorResult<TextPiece, undefined>): void;
  reject(reason: unknown): void;
}

/**
 * A script's text as the model in the thread reads it: a piece is asked for when the model wants it and no sooner, but
 * for the first, which is on its way from the start.
 */
export class TextInbox implements AsyncIterator<TextPiece, undefined> {
  readonly #events: TextInboxEvents;
  readonly #arrived: TextItem[] = [];
  readonly #waiters: Waiter[] = [];
  #asked = 1;
  #wanted = 0;
  #over = false;

  constructor(events: TextInboxEvents) {
    this.#events = events;
  }

  /** Whether the reader waits for a piece just now. */
  get isAwaited(): boolean {
    return this.#waiters.length > 0;
  }

  next(): Promise<IteratorResult<TextPiece, undefined>> {
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject };
      if (this.#over) return resolve({ done: true, value: undefined });
      this.#wanted += 1;
      if (this.#wanted > this.#asked) {
        this.#asked += 1;
        this.#events.onPull();
      }
      const item = this.#arrived.shift();
      if (item !== undefined) return this.#hand(waiter, item);
      this.#waiters.push(waiter);
      this.#events.onWait();
    });
  }

  async return(): Promise<IteratorResult<TextPiece, undefined>> {
    this.#over = true;
    return { done: true, value: undefined };
  }

  /** Takes in the answer to the oldest pull that has none. */
  deliver(item: TextItem): void {
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#arrived.push(item);
    else this.#hand(waiter, item);
  }

  /** Ends the reader's waits with `reason`. */
  abort(reason: unknown): void {
    this.#over = true;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(reason);
  }

  #hand(waiter: Waiter, item: TextItem): void {
    if (typeof item === "object") {
      waiter.resolve({ done: false, value: item.piece });
      return;
    }
    this.#over = true;
    for (const each of [waiter, ...this.#waiters.splice(0)]) {
      if (item === "end") each.resolve({ done: true, value: undefined });
      else each.reject(new SpeechFailedError("the source of the text failed"));
    }
  }
}
