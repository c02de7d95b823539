/**
 * Runs one job at a time, urgent ones first, so that an utterance's first sound does not wait for utterances that are
 * playing. A job that has waited for 60 ms alternates with urgent ones. The order of jobs never changes their
 * results.
 */
export class PriorityMutex {
  readonly #urgent: Waiting[] = [];
  readonly #patient: Waiting[] = [];
  readonly #now: () => number;
  #isBusy = false;
  /** Whether the current job was let past urgent ones, so that the next must be urgent. */
  #owesUrgent = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** @throws the signal's reason if it aborted before the job's turn, and what the job throws */
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

/** Maximum wait of a job before it alternates with urgent ones. Players buffer 200 ms at the start. */
const MAX_WAIT_MS = 60;
