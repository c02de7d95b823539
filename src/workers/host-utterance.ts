import type { TextPiece } from "../core/marked-text.ts";
import type { Script } from "../core/script.ts";
import type { EncodedPiece, Frame, SpeechReport } from "../core/speech-model.ts";
import type { TextItem } from "./protocol.ts";

/** Requests of an utterance to its thread. */
export interface HostUtteranceEvents {
  onText(item: TextItem): void;
  onTaken(): void;
  /** Called once, when the thread has no more to do. `isAbandoned`: the thread does not know that yet. */
  onSettled(isAbandoned: boolean): void;
}

type Outcome = { readonly report: SpeechReport } | { readonly error: unknown };

/** Utterance on the consumer's side: frames received but not consumed, and its outcome. */
export class HostUtterance {
  readonly #events: HostUtteranceEvents;
  readonly #signal: AbortSignal;
  readonly #text: AsyncIterator<TextPiece>;
  #frames: (Frame | EncodedPiece)[] = [];
  #outcome: Outcome | null = null;
  #textFailure: { readonly error: unknown } | null = null;
  #wake = (): void => {};

  constructor(script: Script, signal: AbortSignal, events: HostUtteranceEvents) {
    this.#events = events;
    this.#signal = signal;
    this.#text = script.text[Symbol.asyncIterator]();
    signal.addEventListener("abort", this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
  }

  /** Resolves to the next frame, or the report after the last one. Rejects with what ended it early. */
  async next(): Promise<Frame | EncodedPiece | SpeechReport> {
    for (;;) {
      this.#signal.throwIfAborted();
      const frame = this.#frames.shift();
      if (frame !== undefined) {
        if (this.#outcome === null) this.#events.onTaken();
        return frame;
      }
      if (this.#outcome !== null) {
        if ("error" in this.#outcome) throw this.#outcome.error;
        return this.#outcome.report;
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  push(frames: readonly (Frame | EncodedPiece)[]): void {
    this.#frames.push(...frames);
    this.#wake();
  }

  end(report: SpeechReport): void {
    this.#settle({ report }, false);
  }

  /** Ends it with the thread's error, or with that of its text if that came first. */
  fail(error: unknown): void {
    this.#settle(this.#textFailure ?? { error }, false);
  }

  leave(): void {
    this.#frames = [];
    this.#settle({ error: this.#signal.reason }, true);
  }

  /** Sends the next piece of text to the thread. */
  async pull(): Promise<void> {
    let item: TextItem;
    try {
      const piece = await this.#text.next();
      item = piece.done ? "end" : { piece: piece.value };
    } catch (error) {
      this.#textFailure = { error };
      item = "failed";
    }
    if (this.#outcome === null) this.#events.onText(item);
  }

  readonly #onAbort = (): void => this.leave();

  #settle(outcome: Outcome, isAbandoned: boolean): void {
    if (this.#outcome !== null) return;
    this.#outcome = outcome;
    this.#signal.removeEventListener("abort", this.#onAbort);
    // Not awaited: a source that still waits for its next piece would delay the end.
    void Promise.resolve(this.#text.return?.()).catch(() => {});
    this.#events.onSettled(isAbandoned);
    this.#wake();
  }
}
