import { abortable } from "../../../model/abortable.ts";
import { Recent } from "./recent.ts";

/**
 * What was found out last, so much of it and no more. Who asks for what is being found out already waits for that. What
 * nobody waits for any more is given up, and what could not be found out is forgotten: the next one who asks begins
 * anew.
 */
export class Findings<T> {
  readonly #recent: Recent<Finding<T>>;

  constructor(most: number) {
    this.#recent = new Recent(most);
  }

  /**
   * @param find finds it out, and stops when the signal that it is given aborts
   * @throws the signal's reason as soon as it aborts, and what `find` throws
   */
  async get(key: string, signal: AbortSignal, find: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    const finding = this.#recent.get(key) ?? this.#begin(key, find);
    finding.waiting += 1;
    try {
      return await abortable(finding.found, signal);
    } finally {
      finding.waiting -= 1;
      if (finding.waiting === 0 && !finding.isOver) {
        this.#recent.delete(key, finding);
        finding.stop.abort(signal.reason);
      }
    }
  }

  #begin(key: string, find: (signal: AbortSignal) => Promise<T>): Finding<T> {
    const stop = new AbortController();
    const finding: Finding<T> = { found: find(stop.signal), stop, waiting: 0, isOver: false };
    this.#recent.set(key, finding);
    finding.found.then(
      () => {
        finding.isOver = true;
      },
      () => this.#recent.delete(key, finding),
    );
    return finding;
  }
}

interface Finding<T> {
  readonly found: Promise<T>;
  readonly stop: AbortController;
  /** Who wants to know. */
  waiting: number;
  isOver: boolean;
}
