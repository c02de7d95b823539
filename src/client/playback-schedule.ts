/** A time without a gap: which samples sound in it, and from which sample of the context's own time on. */
interface Run {
  readonly at: number;
  readonly from: number;
  to: number;
}

/**
 * When which sample sounds. All times are whole samples, since buffers that begin between two samples do not join without a
 * click.
 */
export class PlaybackSchedule {
  #runs: Run[] = [];

  /** Begins anew: the next sample to be set down is `from`. */
  clear(): void {
    this.#runs = [];
  }

  /**
   * Sets `length` samples from `from` down, right after those before them, and returns when they begin. Where nothing
   * sounds any more, they begin `lead` after `now`.
   */
  add(from: number, length: number, now: number, lead: number): number {
    let run = this.#runs.at(-1);
    if (run === undefined || this.#endOf(run) < now) {
      run = { at: now + lead, from, to: from };
      this.#runs.push(run);
    }
    const at = this.#endOf(run);
    run.to += length;
    return at;
  }

  /** Whether all that was set down has sounded; false where nothing was. */
  isDry(now: number): boolean {
    const last = this.#runs.at(-1);
    return last !== undefined && this.#endOf(last) < now;
  }

  /** The sample that sounds at `now`, or null before the first one does. */
  sampleAt(now: number): number | null {
    const run = this.#runs.findLast(({ at }) => at <= now);
    return run ? Math.min(run.to, run.from + now - run.at) : null;
  }

  #endOf({ at, from, to }: Run): number {
    return at + to - from;
  }
}
