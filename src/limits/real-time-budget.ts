/** Seconds of speech over which the means of the speed decay. */
const DECAYS_S: readonly number[] = [4, 40];
/** Seconds of speech before which nothing is concluded. */
const MIN_SPOKEN_S = 1;
/** Times from now, in seconds, for which it is checked that everything due by then can be computed. */
const HORIZONS_S: readonly number[] = [0.5, 1, 4];
/** Seconds of speech that every listener should have left at those times, since a busy machine stalls. */
const MARGIN_S = 0.5;
/** Part of the measured speed that is promised. */
const PROMISED_PART = 0.95;
/** Lead of an utterance without a first frame, which takes as long as a second of speech: its sentence is planned. */
export const NEW_LEAD_S = -1;

/** Judges by the measured speed of a model whether it can speak one utterance more in real time. */
export class RealTimeBudget {
  readonly #threads: number;
  readonly #isCoarse: boolean;
  readonly #means = DECAYS_S.map((decayS) => ({ decayS, computeMs: 0, spokenS: 0 }));

  /**
   * @param threads utterances that are computed at the same moment
   * @param isCoarse whether an utterance is computed in large pieces by a thread of its own, so that only means count
   */
  constructor(threads: number, isCoarse: boolean) {
    this.#threads = threads;
    this.#isCoarse = isCoarse;
  }

  /**
   * Seconds of speech that all threads compute per second; infinite before it is measured. The lower of two means: one
   * notices soon that the machine got slower, the other notices later that it got faster.
   */
  get speed(): number {
    if (this.#means[0]!.spokenS < MIN_SPOKEN_S) return Number.POSITIVE_INFINITY;
    const perMs = this.#means.map(({ computeMs, spokenS }) => spokenS / computeMs);
    return 1_000 * this.#threads * Math.min(...perMs);
  }

  /** @param computeMs wall time of one thread */
  record(audioS: number, computeMs: number): void {
    for (const mean of this.#means) {
      const kept = Math.exp(-audioS / mean.decayS);
      mean.computeMs = mean.computeMs * kept + computeMs;
      mean.spokenS = mean.spokenS * kept + audioS;
    }
  }

  /**
   * Whether a further utterance can be opened. The first always can.
   *
   * @param leadsS leads of the open utterances over their listeners
   */
  canTakeOne(leadsS: readonly number[]): boolean {
    const { speed } = this;
    if (leadsS.length === 0 || speed === Number.POSITIVE_INFINITY) return true;
    return this.#isCoarse ? leadsS.length + 1 <= speed : canKeepUp([...leadsS, NEW_LEAD_S], speed);
  }
}

/**
 * Whether a model of this speed that computes what is due first can keep all listeners supplied.
 *
 * @param leadsS seconds of speech that each has and has not played
 */
export function canKeepUp(leadsS: readonly number[], speed: number): boolean {
  return HORIZONS_S.every((horizonS) => {
    const dueS = leadsS.reduce((sum, leadS) => sum + Math.max(0, horizonS + MARGIN_S - leadS), 0);
    return dueS <= PROMISED_PART * speed * horizonS;
  });
}
