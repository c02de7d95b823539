/**
 * Lets one job at a time through, urgent ones first: so that someone who has heard nothing yet is not kept waiting by
 * those who already listen. The order of jobs never changes what a job computes.
 */
export class Turnstile {
  readonly #urgent: (() => void)[] = [];
  readonly #patient: (() => void)[] = [];
  #isBusy = false;

  /** Runs `job` when its turn comes. @throws the signal's reason if it aborted before that, and what the job throws. */
  async pass<T>(job: () => Promise<T>, signal: AbortSignal, isUrgent: boolean): Promise<T> {
    if (this.#isBusy) {
      await new Promise<void>((enter) => (isUrgent ? this.#urgent : this.#patient).push(enter));
    }
    this.#isBusy = true;
    try {
      signal.throwIfAborted();
      return await job();
    } finally {
      const next = this.#urgent.shift() ?? this.#patient.shift();
      if (next === undefined) this.#isBusy = false;
      else next();
    }
  }
}
