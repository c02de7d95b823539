/** Predicts a sample as the sum of the previous ones, nearest first, times integers, shifted right. */
export interface Predictor {
  readonly coefficients: readonly number[];
  /** Bits of a coefficient, sign included. */
  readonly precision: number;
  readonly shift: number;
}

const ORDER = 8;

/** Sums of 8 products with 16-bit samples stay within 32 bits. */
const PRECISION = 12;
const MAX_SHIFT = 15;

/**
 * Computes a block's linear predictor of order 8 by autocorrelation (Makhoul, "Linear prediction: a tutorial review",
 * 1975); null for a block that is too short or too even. Uses only additions and multiplications, so that every
 * machine gets the same result.
 */
export function predictorOf(samples: Int16Array): Predictor | null {
  if (samples.length <= 4 * ORDER) return null;
  const factors = levinsonDurbin(autocorrelation(applyWindow(samples)));
  return factors === null ? null : quantise(factors);
}

/** Returns the prediction error; 0 for the first samples, which have too few before them. */
export function residualOf(samples: Int16Array, { coefficients, shift }: Predictor): Int32Array {
  const residual = new Int32Array(samples.length);
  const [a, b, c, d, e, f, g, h] = coefficients as readonly number[] & { length: 8 };
  for (let i = ORDER; i < samples.length; i += 1) {
    const sum =
      a! * samples[i - 1]! +
      b! * samples[i - 2]! +
      c! * samples[i - 3]! +
      d! * samples[i - 4]! +
      e! * samples[i - 5]! +
      f! * samples[i - 6]! +
      g! * samples[i - 7]! +
      h! * samples[i - 8]!;
    residual[i] = samples[i]! - (sum >> shift);
  }
  return residual;
}

/** Applies Welch's window, a parabola. */
function applyWindow(samples: Int16Array): Float64Array {
  const half = (samples.length - 1) / 2;
  return Float64Array.from(samples, (sample, at) => {
    const place = (at - half) / (half + 1);
    return sample * (1 - place * place);
  });
}

function autocorrelation(values: Float64Array): Float64Array {
  const sums = new Float64Array(ORDER + 1);
  for (let lag = 0; lag <= ORDER; lag += 1) {
    let sum = 0;
    for (let i = lag; i < values.length; i += 1) sum += values[i]! * values[i - lag]!;
    sums[lag] = sum;
  }
  return sums;
}

/** Durbin's recursion. */
function levinsonDurbin(sums: Float64Array): Float64Array | null {
  const factors = new Float64Array(ORDER);
  let error = sums[0]!;
  for (let order = 0; order < ORDER; order += 1) {
    if (!(error > 0)) return null;
    let reflection = sums[order + 1]!;
    for (let i = 0; i < order; i += 1) reflection -= factors[i]! * sums[order - i]!;
    reflection /= error;
    const before = factors.slice(0, order);
    for (let i = 0; i < order; i += 1) factors[i] = before[i]! - reflection * before[order - 1 - i]!;
    factors[order] = reflection;
    error *= 1 - reflection * reflection;
  }
  return factors;
}

/** Quantises to the largest integers that fit, carrying each rounding error to the next. */
function quantise(factors: Float64Array): Predictor | null {
  const maxFactor = factors.reduce((max, factor) => Math.max(max, Math.abs(factor)), 0);
  const limit = 2 ** (PRECISION - 1) - 1;
  let shift = MAX_SHIFT;
  while (shift > 0 && maxFactor * 2 ** shift > limit) shift -= 1;
  if (!(maxFactor * 2 ** shift <= limit)) return null;
  let carried = 0;
  const coefficients = Array.from(factors, (factor) => {
    const exact = factor * 2 ** shift + carried;
    const whole = Math.max(-limit, Math.min(limit, Math.round(exact)));
    carried = exact - whole;
    return whole;
  });
  return { coefficients, precision: PRECISION, shift };
}
