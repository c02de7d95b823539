import type { ServiceError } from "../contract/errors.ts";
import { type SlotPrice, type UtteranceSlotOptions, UtteranceSlots } from "./utterance-slots.ts";

/** How many utterances a checkpoint speaks at once that has slots of its own. */
export interface CheckpointSlotOptions {
  readonly slots: number;
  /** Whether it keeps a slot for as long as an utterance is open, also while nothing of it is computed. */
  readonly keepsSlots: boolean;
  /** What they cost, where that is known. */
  readonly price?: SlotPrice;
}

/**
 * The slots of all that speaks: those of this machine, which its threads share, and for each checkpoint that computes
 * elsewhere, or that computes several utterances together in a thread of its own, its own: so that who waits for one of
 * them holds nobody up who does not.
 */
export class CheckpointSlots {
  readonly #here: UtteranceSlots;
  readonly #own: ReadonlyMap<string, UtteranceSlots>;

  /** @param own of checkpoints that have slots of their own, by their names */
  constructor(options: UtteranceSlotOptions, own: ReadonlyMap<string, CheckpointSlotOptions>) {
    this.#here = new UtteranceSlots(options);
    const isLimited = options.keyConcurrency < options.concurrency;
    this.#own = new Map(
      [...own].map(([checkpoint, { slots: concurrency, ...kept }]) => {
        const keyConcurrency = isLimited ? Math.min(options.keyConcurrency, concurrency) : concurrency;
        return [checkpoint, new UtteranceSlots({ ...options, concurrency, keyConcurrency, ...kept })];
      }),
    );
  }

  /** Those of a checkpoint. */
  of(checkpoint: string): UtteranceSlots {
    return this.#own.get(checkpoint) ?? this.#here;
  }

  get active(): number {
    return this.#sum(({ active }) => active);
  }

  get paused(): number {
    return this.#sum(({ paused }) => paused);
  }

  get queued(): number {
    return this.#sum(({ queued }) => queued);
  }

  /** Why a further request of the key would be refused, whoever is to speak; `null` where it may not be. */
  refusalFor(key: string): ServiceError | null {
    const refusals = this.#all().map((admission) => admission.refusalFor(key));
    return refusals.includes(null) ? null : refusals[0]!;
  }

  close(): void {
    for (const admission of this.#all()) admission.close();
  }

  #all(): UtteranceSlots[] {
    return [this.#here, ...this.#own.values()];
  }

  #sum(of: (admission: UtteranceSlots) => number): number {
    return this.#all().reduce((sum, admission) => sum + of(admission), 0);
  }
}
