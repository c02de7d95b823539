import type { Register } from "../prosody/delivery.ts";
import { clamp, percentile, standardDeviation } from "./analysis/statistics.ts";
import type { OwnPitch, SentencePitch } from "./own-pitch.ts";

/** Where our pitch goes to become somebody's: natural logarithms of hertz throughout. */
export interface PitchMap {
  /** Seven quantiles of how far our pitch is from its sentence's median. */
  readonly own: readonly number[];
  /** The same of theirs. */
  readonly theirs: readonly number[];
  /** Our median, and where it goes. */
  readonly ownCentre: number;
  readonly centre: number;
  /** What is to be heard: the median, and the standard deviation. */
  readonly meant: { readonly centre: number; readonly spread: number };
}

/** The pitch of the voice that is begun with, and its range: factors on our own. */
export interface StartingPitch {
  readonly level: number;
  readonly range: number;
}

/**
 * Maps quantile to quantile, so that level, range and the shape of the range follow; `strength`, 0 to 1, says how far
 * from the voice that is begun with. The network's pitch is lowered to 0.45 at most and raised to 1.4: beyond, it no
 * longer sounds like a voice.
 *
 * @param theirs sorted, as in `VoiceProfile`
 */
export function pitchMap(
  own: OwnPitch,
  start: StartingPitch,
  theirs: Float32Array,
  strength: number,
  bias: HearingBias = USUAL_BIAS,
): PitchMap {
  const median = percentile(theirs, 0.5);
  const x = QUANTILES.map((share) => percentile(own.deviations, share));
  const heard = QUANTILES.map((share) => percentile(theirs, share) - median);
  const wanted = heard.map((value, i) => start.range * x[i]! + strength * (value - start.range * x[i]!));
  const y = wanted.slice();
  for (const direction of [1, -1]) {
    for (let i = MIDDLE + direction; x[i] !== undefined; i += direction) {
      const before = i - direction;
      const step = x[i]! - x[before]!;
      const slope = step === 0 ? 1 : (wanted[i]! - wanted[before]!) / step;
      y[i] = y[before]! + clamp(slope, MIN_SLOPE, MAX_SLOPE) * step;
    }
  }
  const begun = Math.log(start.level);
  const aimed = begun + strength * (median - own.centre - begun);
  const shift = clamp(aimed, MIN_SHIFT, MAX_SHIFT);
  const middle = y[MIDDLE]!;
  const ownSpread = start.range * bias.range * standardDeviation(own.deviations);
  return {
    own: x,
    theirs: y.map((value) => value - middle),
    ownCentre: own.centre,
    centre: own.centre + shift,
    meant: {
      centre: own.centre + shift,
      spread: ownSpread + strength * (standardDeviation(theirs) - ownSpread),
    },
  };
}

/** How pitch that is heard in our audio differs from the pitch that was planned. */
export interface HearingBias {
  /** Added to the median of the logarithm. */
  readonly level: number;
  /** Factor on the standard deviation. */
  readonly range: number;
}

/** As it was found where speakers were followed without calibration (the Harvard sentences, mean over five of them). */
export const USUAL_BIAS: HearingBias = { level: 0.065, range: 0.82 };

/** The bias that calibration shows. @param heard sorted logarithms of the pitch in what was said aloud */
export function hearingBias(
  map: PitchMap,
  aloud: readonly SentencePitch[],
  heard: Float32Array,
): HearingBias {
  if (heard.length < MIN_VOICED) return USUAL_BIAS;
  const planned = plannedPitch(map, aloud);
  return {
    level: clamp(percentile(heard, 0.5) - percentile(planned, 0.5), -MAX_LEVEL_BIAS, MAX_LEVEL_BIAS),
    range: clamp(
      standardDeviation(heard) / (standardDeviation(planned) || 1),
      MIN_RANGE_BIAS,
      MAX_RANGE_BIAS,
    ),
  };
}

/** The same map, moved and widened so that what is heard of it, over many sentences, is what was meant. */
export function correctedPitchMap(
  map: PitchMap,
  sentences: readonly SentencePitch[],
  bias: HearingBias,
): PitchMap {
  let better = map;
  for (let round = 0; round < ROUNDS; round++) {
    const planned = plannedPitch(better, sentences);
    const range = map.meant.spread / (bias.range * standardDeviation(planned) || 1);
    const level = map.meant.centre - (percentile(planned, 0.5) + bias.level);
    better = {
      ...better,
      centre: clamp(better.centre + level, map.ownCentre + MIN_SHIFT, map.ownCentre + MAX_SHIFT),
      theirs: better.theirs.map((value) => value * clamp(range, MIN_WIDENED, MAX_WIDENED)),
    };
  }
  return better;
}

function plannedPitch(map: PitchMap, sentences: readonly SentencePitch[]): Float32Array {
  const { centreHz, spread } = mappedRegister(map);
  const all = sentences.flatMap(({ centre, deviations }) => {
    const moved = Math.log(centreHz(Math.exp(centre)));
    return Array.from(deviations, (value) => moved + spread(value));
  });
  return Float32Array.from(all).sort();
}

/** Sentences differ in pitch a little, as ours do. */
export function mappedRegister(map: PitchMap): Register {
  return {
    centreHz(medianHz) {
      const off = Math.log(medianHz) - map.ownCentre;
      return Math.exp(map.centre + clamp(off, -MAX_OFF, MAX_OFF));
    },
    spread: (deviation) => between(map.own, map.theirs, deviation),
  };
}

/** How wide the range is against our own. */
export function mappedRange({ own, theirs }: PitchMap): number {
  return (theirs.at(-1)! - theirs[0]!) / (own.at(-1)! - own[0]! || 1);
}

/** Piecewise linear, and a little flatter beyond the ends. */
function between(x: readonly number[], y: readonly number[], at: number): number {
  const last = x.length - 1;
  if (at <= x[0]!) return y[0]! + BEYOND * (at - x[0]!);
  if (at >= x[last]!) return y[last]! + BEYOND * (at - x[last]!);
  let i = 0;
  while (at > x[i + 1]!) i++;
  const step = x[i + 1]! - x[i]!;
  return step === 0 ? y[i]! : y[i]! + ((y[i + 1]! - y[i]!) * (at - x[i]!)) / step;
}

const QUANTILES: readonly number[] = [0.03, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97];
const MIDDLE = 3;
const MIN_SLOPE = 0.5;
const MAX_SLOPE = 2.5;
const BEYOND = 0.7;
const MIN_SHIFT = Math.log(0.45);
const MAX_SHIFT = Math.log(1.4);
const MAX_OFF = 0.12;
/** What calibration may show: more would be a mistake of the measurement. */
const MAX_LEVEL_BIAS = 0.15;
const MIN_RANGE_BIAS = 0.5;
const MAX_RANGE_BIAS = 1.3;
const MIN_VOICED = 40;
/** By the second round what is left is small. */
const ROUNDS = 3;
const MIN_WIDENED = 0.7;
const MAX_WIDENED = 1.4;
