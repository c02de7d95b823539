export interface ClaimedTurns {
  readonly seconds: number;
  markMetered(): void;
  /** Meters the claimed turns separately, unless the request has metered them. Call it once. */
  release(): void;
}

interface Turn {
  /** Revision of the turn's transcription; `null` for a discarded turn. */
  readonly revision: number | null;
  readonly seconds: number;
  isTranscribed: boolean;
}

/** Seconds of committed turns, each metered once: with the reply to it, or separately. */
export class TurnMeter {
  readonly #meterSeparately: (seconds: number) => void;
  readonly #turns: Turn[] = [];

  /** @param meterSeparately meters seconds that belong to no request */
  constructor(meterSeparately: (seconds: number) => void) {
    this.#meterSeparately = meterSeparately;
  }

  get seconds(): number {
    return secondsOf(this.#turns);
  }

  add(revision: number, seconds: number): void {
    this.#turns.push({ revision, seconds, isTranscribed: false });
  }

  addDiscarded(seconds: number): void {
    if (seconds > 0) this.#turns.push({ revision: null, seconds, isTranscribed: true });
  }

  /** Notes a turn's transcript. A failed transcription costs nothing. */
  transcribed(revision: number, hasFailed: boolean): void {
    const at = this.#turns.findIndex((each) => each.revision === revision);
    if (hasFailed && at >= 0) this.#turns.splice(at, 1);
    else if (at >= 0) this.#turns[at]!.isTranscribed = true;
  }

  claim(): ClaimedTurns {
    return this.#claimed(this.#turns.length);
  }

  /** Claims the oldest turns up to the first transcribed one; `null` if there is none. */
  claimTranscribed(): ClaimedTurns | null {
    const at = this.#turns.findIndex(({ isTranscribed }) => isTranscribed);
    return at < 0 ? null : this.#claimed(at + 1);
  }

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
