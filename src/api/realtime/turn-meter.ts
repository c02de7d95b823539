/** Turns that a request is about to meter. */
export interface ClaimedTurns {
  readonly seconds: number;
  /** Notes that the request has metered them. */
  markMetered(): void;
  /** Ends the request. What it has not metered is metered separately. */
  release(): void;
}

interface Turn {
  /** `null` of a discarded turn. */
  readonly revision: number | null;
  readonly seconds: number;
  isTranscribed: boolean;
}

/** Seconds of committed turns, each metered once: with the reply to it, or separately. */
export class TurnMeter {
  readonly #meterSeparately: (seconds: number) => void;
  /** Turns that no request has taken, oldest first. */
  readonly #turns: Turn[] = [];

  /** @param meterAlone meters seconds that belong to no request */
  constructor(meterSeparately: (seconds: number) => void) {
    this.#meterSeparately = meterSeparately;
  }

  /** Seconds that no request has taken. */
  get seconds(): number {
    return secondsOf(this.#turns);
  }

  add(revision: number, seconds: number): void {
    this.#turns.push({ revision, seconds, isTranscribed: false });
  }

  /** Adds what was transcribed of a turn that was discarded. */
  addDiscarded(seconds: number): void {
    if (seconds > 0) this.#turns.push({ revision: null, seconds, isTranscribed: true });
  }

  /** Notes that a turn was transcribed. One that could not be costs nothing. */
  transcribed(revision: number, hasFailed: boolean): void {
    const at = this.#turns.findIndex((each) => each.revision === revision);
    if (hasFailed && at >= 0) this.#turns.splice(at, 1);
    else if (at >= 0) this.#turns[at]!.isTranscribed = true;
  }

  /** Takes all turns so far for one request, which calls {@link ClaimedTurns.release} once. */
  claim(): ClaimedTurns {
    return this.#claimed(this.#turns.length);
  }

  /** Takes the oldest turns up to the first that is transcribed; `null` where none is. */
  claimTranscribed(): ClaimedTurns | null {
    const at = this.#turns.findIndex(({ isTranscribed }) => isTranscribed);
    return at < 0 ? null : this.#claimed(at + 1);
  }

  /** Meters what no request has taken: the session is over. */
  end(): void {
    this.claim().release();
  }

  #claimed(count: number): ClaimedTurns {
    const seconds = secondsOf(this.#turns.splice(0, count));
    let left = seconds;
    return {
      seconds,
      markMetered: () => {
        left = 0;
      },
      release: () => {
        if (left > 0) this.#meterSeparately(left);
        left = 0;
      },
    };
  }
}

function secondsOf(turns: readonly Turn[]): number {
  return turns.reduce((sum, { seconds }) => sum + seconds, 0);
}
