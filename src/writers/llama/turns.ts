/** Lets one piece of work run at a time, in the order in which they came. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` when everything before it is done; what that came to does not matter. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {});
    return mine;
  }
}

/** Lets everything run as it comes: llama.cpp puts into one batch what comes at one time. */
export class AllAtOnce implements Pick<Turns, "take"> {
  take<T>(work: () => Promise<T>): Promise<T> {
    return Promise.resolve().then(work);
  }
}
