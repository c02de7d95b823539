import type { SpokenFrame, StopReason } from "./codec-language-model.ts";
import type { CodeFrame, DecodedStream } from "./mimi/frame-decoder.ts";
import type { BackboneOutput } from "./networks/backbone.ts";
import type { Rng, SamplerConfig } from "./sampler.ts";

export interface SequenceState {
  /** Prompt rows, [n, width], at least one. */
  readonly prompt: Float32Array;
  readonly depthSampler: SamplerConfig;
  readonly rng: Rng;
  readonly decoderStream: DecodedStream;
  /** Samples a frame's first code, or returns why there are no more frames. Called once per frame. */
  sampleFirst(logits: Float32Array): number | StopReason;
  /** Records a sampled frame. @returns whether it is audible, and why it is the last; `null`: more follow */
  acceptFrame(frame: CodeFrame): { readonly isAudible: boolean; readonly stop: StopReason | null };
  /** Adds the text embedding that goes with a frame to the backbone's input row. */
  addText?(row: Float32Array): void;
}

/** An utterance in the batch, with its slot and the caller that waits for its next frame. */
export class Sequence {
  readonly state: SequenceState;
  slot: number | null = null;
  isPrefilled = false;
  isOver = false;
  blockKeys: readonly string[] | null = null;
  /** Scores for the next frame; `null`: `row` must be read first. */
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

  /** Returns the next frame, or why there is none. Throws the signal's reason or the error of the sequence. */
  next(): Promise<SpokenFrame | StopReason> {
    return new Promise((resolve, reject) => {
      if (this.#error !== null) reject(this.#error.thrown);
      else if (this.#stop !== null) resolve(this.#stop);
      else this.#waiter = { resolve, reject };
      this.#wake();
    });
  }

  /** Frees the slot. Idempotent. */
  leave(): void {
    this.#finish();
    this.#wake();
  }

  /** @param stop set if the frame is the last */
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
