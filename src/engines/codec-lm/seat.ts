import type { Choosing } from "./choosing.ts";
import type { Draws } from "./draws.ts";
import type { Newest } from "./first-stack.ts";
import type { DecodedStream, Frame } from "./frame-decoder.ts";
import type { SpokenFrame, Stop } from "./model.ts";

/** An utterance as far as it is its own. */
export interface Voicing {
  /** What is read before the first frame: [n, width], at least one row. */
  readonly prompt: Float32Array;
  readonly others: Choosing;
  readonly draws: Draws;
  readonly sound: DecodedStream;
  /** Chooses a frame's first code, or says why there is no frame any more. Called once for each. */
  chooseFirst(logits: Float32Array): number | Stop;
  /** Is told of a frame that was chosen. @returns whether it is heard, and why no other follows; `null`: one does */
  take(frame: Frame): { readonly isHeard: boolean; readonly stop: Stop | null };
  /** Adds what stands beside a frame at the first stack's input. */
  addBeside?(row: Float32Array): void;
}

/** An utterance in the batch. */
export interface Member {
  /** The next frame, or why there is none. Throws the signal's reason, or what went wrong. */
  next(): Promise<SpokenFrame | Stop>;
  /** Gives its place to others. It may be called twice. */
  leave(): void;
}

/** A place, taken or waited for, and whoever waits for the next frame. */
export class Seat implements Member {
  readonly voicing: Voicing;
  slot: number | null = null;
  isRead = false;
  isOver = false;
  blockNames: readonly string[] | null = null;
  /** By which the next frame is chosen; `null`: `row` has to be read first. */
  newest: Newest | null = null;
  row: Float32Array | null = null;
  readonly #signal: AbortSignal;
  readonly #wake: () => void;
  readonly #onAbort = (): void => this.fail(this.#signal.reason);
  #waiting: { resolve(step: SpokenFrame | Stop): void; reject(error: unknown): void } | null = null;
  #stop: Stop | null = null;
  #error: { readonly thrown: unknown } | null = null;

  constructor(voicing: Voicing, signal: AbortSignal, wake: () => void) {
    this.voicing = voicing;
    this.#signal = signal;
    this.#wake = wake;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  get isAwaited(): boolean {
    return this.#waiting !== null;
  }

  next(): Promise<SpokenFrame | Stop> {
    return new Promise((resolve, reject) => {
      if (this.#error !== null) reject(this.#error.thrown);
      else if (this.#stop !== null) resolve(this.#stop);
      else this.#waiting = { resolve, reject };
      this.#wake();
    });
  }

  leave(): void {
    this.#finish();
    this.#wake();
  }

  /** @param stop why no other follows */
  give(frame: SpokenFrame, stop: Stop | null): void {
    const waiting = this.#taken();
    if (stop !== null) this.end(stop);
    waiting?.resolve(frame);
  }

  end(stop: Stop): void {
    if (this.isOver) return;
    this.#stop = stop;
    this.#finish();
    this.#taken()?.resolve(stop);
  }

  fail(thrown: unknown): void {
    if (this.isOver) return;
    this.#error = { thrown };
    this.#finish();
    this.#taken()?.reject(thrown);
    this.#wake();
  }

  #taken() {
    const waiting = this.#waiting;
    this.#waiting = null;
    return waiting;
  }

  #finish(): void {
    this.isOver = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}
