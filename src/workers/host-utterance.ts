import type { TextPiece } from "../core/marked-text.ts";
import type { Script } from "../core/script.ts";
import type { EncodedPiece, Frame, SpeechReport } from "../core/speech-model.ts";
import type { TextItem } from "./protocol.ts";

/** What an utterance asks of the thread that speaks it. */
export interface HostUtteranceEvents {
  onText(item: TextItem): void;
  onTaken(): void;
  /** Called once: the thread has no more to do for it. `isAbandoned`: it does not know that yet. */
  onSettled(isAbandoned: boolean): void;
}

type Outcome = { readonly report: SpeechReport } | { readonly error: unknown };

/** One utterance as its consumer's thread sees it: the frames that have come and were not taken, and how it ended. */
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

  /** The next frame, or the report that follows the last one. Throws what ended the utterance early. */
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

  /** The thread failed it. When its text did so first, that is the error. */
  fail(error: unknown): void {
    this.#settle(this.#textFailure ?? { error }, false);
  }

  /** The consumer left. */
  leave(): void {
    this.#frames = [];
    this.#settle({ error: this.#signal.reason }, true);
  }

  /** The thread wants the next piece of text. */
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
    // Not awaited: a source that still waits for its next piece would hold up the end.
    void Promise.resolve(this.#text.return?.()).catch(() => {});
    this.#events.onSettled(isAbandoned);
    this.#wake();
  }
}
