import type { ServiceError } from "../contract/errors.ts";
import { Admission, type AdmissionOptions } from "./admission.ts";

/**
 * The places of all that speaks: those of this machine, and for each checkpoint that computes elsewhere its own, so that
 * who waits for one of them holds nobody up who does not.
 */
export class Admissions {
  readonly #here: Admission;
  readonly #elsewhere: ReadonlyMap<string, Admission>;

  /** @param places of checkpoints that compute elsewhere, by their names */
  constructor(options: AdmissionOptions, places: ReadonlyMap<string, number>) {
    this.#here = new Admission(options);
    const isLimited = options.keyConcurrency < options.concurrency;
    this.#elsewhere = new Map(
      [...places].map(([checkpoint, concurrency]) => {
        const keyConcurrency = isLimited ? Math.min(options.keyConcurrency, concurrency) : concurrency;
        return [checkpoint, new Admission({ ...options, concurrency, keyConcurrency })];
      }),
    );
  }

  /** Those of a checkpoint. */
  of(checkpoint: string): Admission {
    return this.#elsewhere.get(checkpoint) ?? this.#here;
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

  #all(): Admission[] {
    return [this.#here, ...this.#elsewhere.values()];
  }

  #sum(of: (admission: Admission) => number): number {
    return this.#all().reduce((sum, admission) => sum + of(admission), 0);
  }
}
