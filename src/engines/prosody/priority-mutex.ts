/**
 * Lets one job at a time through, urgent ones first: so that someone who has heard nothing yet is not kept waiting by
 * those who already listen. Nor are those without end: who has waited for 60 ms takes turns with the urgent. The order
 * of jobs never changes what a job computes.
 */
export class PriorityMutex {
  readonly #urgent: Waiting[] = [];
  readonly #patient: Waiting[] = [];
  readonly #now: () => number;
  #isBusy = false;
  /** Whether the job that goes now was let past the urgent, so that the next is one of them. */
  #owesUrgent = false;

  /** @param now milliseconds on any steady clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Runs `job` when its turn comes. @throws the signal's reason if it aborted before that, and what the job throws. */
  async pass<T>(job: () => Promise<T>, signal: AbortSignal, isUrgent: boolean): Promise<T> {
    if (this.#isBusy) {
      const sinceMs = this.#now();
      await new Promise<void>((enter) => (isUrgent ? this.#urgent : this.#patient).push({ enter, sinceMs }));
    }
    this.#isBusy = true;
    try {
      signal.throwIfAborted();
      return await job();
    } finally {
      const next = this.#next();
      if (next === undefined) this.#isBusy = false;
      else next.enter();
    }
  }

  #next(): Waiting | undefined {
    const [patient] = this.#patient;
    const isOverdue = patient !== undefined && this.#now() - patient.sinceMs >= MAX_WAIT_MS;
    const goesFirst = isOverdue && !this.#owesUrgent && this.#urgent.length > 0;
    this.#owesUrgent = goesFirst;
    return goesFirst ? this.#patient.shift() : (this.#urgent.shift() ?? this.#patient.shift());
  }
}

interface Waiting {
  readonly sinceMs: number;
  enter(): void;
}

/** A listener begins with 200 ms in hand. */
const MAX_WAIT_MS = 60;
