/**
 * Statistics of a voice's norms over sentences of any length. Every sentence has about the same silence around it, so that
 * its share goes with the inverse of the length, and so does a mean over the sentence: a line for each number, and a floor
 * under it, since variances are positive.
 */
export interface StatisticsLine {
  /** For sentences without end. */
  readonly level: Float32Array;
  /** What is added for each inverse step of 25 ms. */
  readonly slope: Float32Array;
  readonly floor: Float32Array;
}

/** What was measured of a sentence. */
export interface MeasuredSentence {
  /** Its length with the silence around it. */
  readonly steps: number;
  readonly statistics: Float32Array;
}

/** A variance is no smaller than this share of the smallest that was measured. */
const LEAST = 0.3;

/** The line that is nearest to what was measured (least squares). @param sentences of two lengths at least */
export function lineThrough(sentences: readonly MeasuredSentence[]): StatisticsLine {
  const count = sentences[0]?.statistics.length ?? 0;
  const inverses = sentences.map(({ steps }) => 1 / steps);
  const middle = inverses.reduce((sum, each) => sum + each, 0) / inverses.length;
  const spread = inverses.reduce((sum, each) => sum + (each - middle) ** 2, 0);
  const level = new Float32Array(count);
  const slope = new Float32Array(count);
  const floor = new Float32Array(count);
  for (let at = 0; at < count; at++) {
    let mean = 0;
    let rise = 0;
    let least = Number.POSITIVE_INFINITY;
    for (const [index, { statistics }] of sentences.entries()) {
      const value = statistics[at]!;
      mean += value / sentences.length;
      rise += ((inverses[index]! - middle) * value) / spread;
      least = Math.min(least, value);
    }
    slope[at] = rise;
    level[at] = mean - rise * middle;
    floor[at] = least > 0 ? LEAST * least : Number.NEGATIVE_INFINITY;
  }
  return { level, slope, floor };
}

/** The shortest sentence that the line is trusted for: "Yes." */
const LEAST_STEPS = 40;

/** The statistics of a sentence of so many steps. */
export function statisticsAt({ level, slope, floor }: StatisticsLine, steps: number): Float32Array {
  const inverse = 1 / Math.max(LEAST_STEPS, steps);
  return level.map((value, at) => Math.max(floor[at]!, value + slope[at]! * inverse));
}
