import type { ServiceError } from "../contract/errors.ts";
import type { SlotPrice, UtteranceSlotOptions } from "./slot-utterance.ts";
import { UtteranceSlots } from "./utterance-slots.ts";

/** Slots of a checkpoint that does not share those of this machine. */
export interface CheckpointSlotOptions {
  readonly slots: number;
  /** Whether a slot is taken as long as an utterance is open, even while nothing is computed. */
  readonly keepsSlots: boolean;
  /** Cost of a slot, where it is known. */
  readonly price?: SlotPrice;
}

/**
 * Slots of every checkpoint. The threads of this machine share one set; a remote checkpoint, or one that computes
 * several utterances together in its own thread, has its own set, so that waiting for it does not block others.
 */
export class CheckpointSlots {
  readonly #here: UtteranceSlots;
  readonly #own: ReadonlyMap<string, UtteranceSlots>;

  constructor(options: UtteranceSlotOptions, own: ReadonlyMap<string, CheckpointSlotOptions>) {
    this.#here = new UtteranceSlots(options);
    const isLimited = options.keyConcurrency < options.concurrency;
    this.#own = new Map(
      [...own].map(([checkpoint, { slots: concurrency, ...kept }]) => {
        const keyConcurrency = isLimited ? Math.min(options.keyConcurrency, concurrency) : concurrency;
        // Lateness of a remote server says nothing about this machine, and local models limit their own slots.
        const limits = { ...options, concurrency, keyConcurrency, maxLate: undefined };
        return [checkpoint, new UtteranceSlots({ ...limits, ...kept })];
      }),
    );
  }

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

  /** Returns why a further request of the key would be refused by every checkpoint; `null` if one may accept it. */
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
