import { SpeechFailedError } from "../../model/speech-model.ts";
import type { Work } from "./listen/work.ts";
import type { Network } from "./network.ts";

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

/** Does work piece by piece, each when its turn comes, so that those who speak go first. @throws the signal's reason */
export async function runInTurns<T>(work: Work<T>, mutex: PriorityMutex, signal: AbortSignal): Promise<T> {
  for (;;) {
    const step = await mutex.pass(async () => work.next(), signal, false);
    if (step.done) return step.value;
    // The event loop goes round once: who has come in meanwhile is seen.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/**
 * The network as one utterance sees it: it waits its turn before every run, urgently until it has been heard, and
 * stops when the signal aborts. What goes wrong in a run is a {@link SpeechFailedError}.
 */
export function yieldingNetwork(
  network: Network,
  mutex: PriorityMutex,
  signal: AbortSignal,
  isUrgent: () => boolean,
): Network {
  return withEachRun(network, async (run) => {
    const result = await mutex.pass(() => run().catch(failed), signal, isUrgent());
    signal.throwIfAborted();
    return result;
  });
}

/** A network that begins no further run once the signal has aborted. */
export function abortableNetwork(network: Network, signal: AbortSignal): Network {
  return withEachRun(network, async (run) => {
    signal.throwIfAborted();
    return run();
  });
}

function withEachRun(network: Network, pass: <T>(run: () => Promise<T>) => Promise<T>): Network {
  return {
    read: (ids) => pass(() => network.read(ids)),
    intone: (columns) => pass(() => network.intone(columns)),
    decode: (piece, memory) => pass(() => network.decode(piece, memory)),
  };
}

function failed(cause: unknown): never {
  throw new SpeechFailedError("The voice's network failed: try again.", { cause });
}
