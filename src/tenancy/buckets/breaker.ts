/** Failures in a row after which nobody is asked for a while. */
const MAX_FAILURES = 3;
/** How long nobody is asked then, and after each try that fails, in milliseconds. */
const REST_MS = 1_000;

/** Keeps what does not answer from being asked each time: a circuit breaker. */
export class Breaker {
  readonly #nowMs: () => number;
  #failures = 0;
  #restsUntilMs = 0;

  /** @param nowMs monotonic milliseconds */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Whether nobody is to be asked, but for a try now and then. */
  get isOpen(): boolean {
    return this.#failures >= MAX_FAILURES;
  }

  /** Whether to ask now. While it is open, one a second may try; the others do not wait with it. */
  lets(): boolean {
    if (!this.isOpen) return true;
    const nowMs = this.#nowMs();
    if (nowMs < this.#restsUntilMs) return false;
    this.#restsUntilMs = nowMs + REST_MS;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
  }

  failed(): void {
    this.#failures += 1;
    if (this.#failures === MAX_FAILURES) this.#restsUntilMs = this.#nowMs() + REST_MS;
  }

  /** As after so many failures. */
  trip(): void {
    while (!this.isOpen) this.failed();
  }
}
