/** How much a tick that is measured counts beside those before it. */
const NEWNESS = 0.2;
/** What another utterance is thought to add to a tick, as a share of it, until that was measured. */
const SHARE_OF_ANOTHER = 0.25;

/** How long a tick takes, by the number of utterances that are spoken in it. */
export class TickTimes {
  /** In milliseconds. */
  readonly #measured: number[] = [];

  note(count: number, ms: number): void {
    const before = this.#measured[count] ?? ms;
    this.#measured[count] = before + NEWNESS * (ms - before);
  }

  /** In milliseconds; what was never measured is thought from fewer. 0 before anything was. */
  expected(count: number): number {
    const known = this.#measured[count];
    if (known !== undefined) return known;
    return count === 0 ? 0 : this.expected(count - 1) * (1 + SHARE_OF_ANOTHER);
  }
}
