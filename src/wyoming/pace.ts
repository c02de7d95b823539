/** Seconds are looked at that lie so far back, in milliseconds: more than a client may take from one piece to the next. */
const WINDOW_MS = 3_000;
/** What is noted more often takes the place of what was noted last. */
const STEP_MS = 250;

interface Mark {
  readonly atMs: number;
  readonly bytes: number;
}

/** How fast something comes, in its last three to four seconds: what came at once before that tells nothing of now. */
export class Pace {
  readonly #marks: Mark[] = [{ atMs: 0, bytes: 0 }];

  /**
   * Notes what has come, which is to be done once a second or more often.
   *
   * @param atMs since the beginning; no earlier than before
   * @param bytes all since then
   */
  note(atMs: number, bytes: number): void {
    const beforeLast = this.#marks.at(-2);
    if (beforeLast !== undefined && atMs - beforeLast.atMs < STEP_MS) this.#marks.pop();
    this.#marks.push({ atMs, bytes });
    while (this.#marks.length > 1 && this.#marks[1]!.atMs <= atMs - WINDOW_MS) this.#marks.shift();
  }

  /** Bytes a second, where so many have come until then. */
  bytesASecond(atMs: number, bytes: number): number {
    const from = this.#marks.findLast((mark) => mark.atMs <= atMs - WINDOW_MS) ?? this.#marks[0]!;
    return (1_000 * Math.max(0, bytes - from.bytes)) / Math.max(1, atMs - from.atMs);
  }
}
