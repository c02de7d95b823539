import type { SpokenFrame, StopReason } from "./codec-language-model.ts";
import type { CodeFrame, DecodedStream } from "./mimi/frame-decoder.ts";
import type { BackboneOutput } from "./networks/backbone.ts";
import type { Rng, SamplerConfig } from "./sampler.ts";

/** An utterance as far as it is its own. */
export interface SequenceState {
  /** What is read before the first frame: [n, width], at least one row. */
  readonly prompt: Float32Array;
  readonly depthSampler: SamplerConfig;
  readonly rng: Rng;
  readonly decoderStream: DecodedStream;
  /** Samples a frame's first code, or says why there is no frame any more. Called once for each. */
  sampleFirst(logits: Float32Array): number | StopReason;
  /** Is told of a frame that was sampled. @returns whether it is heard, and why no other follows; `null`: one does */
  acceptFrame(frame: CodeFrame): { readonly isHeard: boolean; readonly stop: StopReason | null };
  /** Adds the text that is read with a frame at the backbone's input. */
  addText?(row: Float32Array): void;
}

/** An utterance in the batch: its slot, taken or waited for, and whoever waits for the next frame. */
export class Sequence {
  readonly state: SequenceState;
  slot: number | null = null;
  isPrefilled = false;
  isOver = false;
  blockKeys: readonly string[] | null = null;
  /** By which the next frame is sampled; `null`: `row` has to be read first. */
  output: BackboneOutput | null = null;
  row: Float32Array | null = null;
  readonly #signal: AbortSignal;
  readonly #wake: () => void;
  readonly #onAbort = (): void => this.fail(this.#signal.reason);
  #waiter: { resolve(step: SpokenFrame | StopReason): void; reject(error: unknown): void } | null = null;
  #stop: StopReason | null = null;
  #error: { readonly thrown: unknown } | null = null;

  constructor(state: SequenceState, signal: AbortSignal, wake: () => void) {
    this.state = state;
    this.#signal = signal;
    this.#wake = wake;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  get isWaiting(): boolean {
    return this.#waiter !== null;
  }

  /** The next frame, or why there is none. Throws the signal's reason, or what went wrong. */
  next(): Promise<SpokenFrame | StopReason> {
    return new Promise((resolve, reject) => {
      if (this.#error !== null) reject(this.#error.thrown);
      else if (this.#stop !== null) resolve(this.#stop);
      else this.#waiter = { resolve, reject };
      this.#wake();
    });
  }

  /** Gives its slot to others. It may be called twice. */
  leave(): void {
    this.#finish();
    this.#wake();
  }

  /** @param stop why no other follows */
  deliver(frame: SpokenFrame, stop: StopReason | null): void {
    const waiting = this.#takeWaiter();
    if (stop !== null) this.end(stop);
    waiting?.resolve(frame);
  }

  end(stop: StopReason): void {
    if (this.isOver) return;
    this.#stop = stop;
    this.#finish();
    this.#takeWaiter()?.resolve(stop);
  }

  fail(thrown: unknown): void {
    if (this.isOver) return;
    this.#error = { thrown };
    this.#finish();
    this.#takeWaiter()?.reject(thrown);
    this.#wake();
  }

  #takeWaiter() {
    const waiting = this.#waiter;
    this.#waiter = null;
    return waiting;
  }

  #finish(): void {
    this.isOver = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}
