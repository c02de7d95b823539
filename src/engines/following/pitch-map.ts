import { medianPitchHz, type Register } from "../prosody/delivery.ts";
import { VOICED_ABOVE_HZ } from "../prosody/frames.ts";
import { type Contour, type PlanningNetwork, planContour, type Timing } from "../prosody/plan.ts";
import { clamp, percentile, standardDeviation } from "./analysis/statistics.ts";

/** Maps our pitch to a target's; natural logarithms of hertz throughout. */
export interface PitchMap {
  /** Seven quantiles of our pitch, relative to its sentence's median, and their targets. */
  readonly own: readonly number[];
  readonly target: readonly number[];
  readonly ownCentre: number;
  readonly centre: number;
  /** Intended median and standard deviation, as measured in the sound. */
  readonly intended: { readonly centre: number; readonly spread: number };
}

/** Pitch and range of the starting voice, as factors on our own. */
export interface StartingPitch {
  readonly level: number;
  readonly range: number;
}

/**
 * Maps quantile to quantile, so that level, range and the shape of the range follow; `strength`, 0 to 1, interpolates
 * from the starting voice. The shift is limited to 0.45 to 1.4: beyond, the network no longer sounds like a voice.
 *
 * @param theirs sorted, as in `VoiceProfile`
 */
export function pitchMap(
  own: BaselinePitch,
  start: StartingPitch,
  theirs: Float32Array,
  strength: number,
  bias: PitchBias = USUAL_BIAS,
): PitchMap {
  const median = percentile(theirs, 0.5);
  const x = QUANTILES.map((share) => percentile(own.deviations, share));
  const targets = QUANTILES.map((share) => percentile(theirs, share) - median);
  const wanted = targets.map((value, i) => start.range * x[i]! + strength * (value - start.range * x[i]!));
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
    target: y.map((value) => value - middle),
    ownCentre: own.centre,
    centre: own.centre + shift,
    intended: {
      centre: own.centre + shift,
      spread: ownSpread + strength * (standardDeviation(theirs) - ownSpread),
    },
  };
}

/** Difference between pitch measured in our audio and planned pitch. */
export interface PitchBias {
  /** Added to the median of the logarithm. */
  readonly level: number;
  /** Factor on the standard deviation. */
  readonly range: number;
}

/** Measured where speakers were followed without calibration (Harvard sentences, mean over five of them). */
export const USUAL_BIAS: PitchBias = { level: 0.065, range: 0.82 };

/** Returns the bias that calibration shows. @param measured sorted logarithms of the spoken sentences' pitch */
export function measurePitchBias(
  map: PitchMap,
  aloud: readonly SentencePitch[],
  measured: Float32Array,
): PitchBias {
  if (measured.length < MIN_VOICED) return USUAL_BIAS;
  const planned = plannedPitch(map, aloud);
  return {
    level: clamp(percentile(measured, 0.5) - percentile(planned, 0.5), -MAX_LEVEL_BIAS, MAX_LEVEL_BIAS),
    range: clamp(
      standardDeviation(measured) / (standardDeviation(planned) || 1),
      MIN_RANGE_BIAS,
      MAX_RANGE_BIAS,
    ),
  };
}

/** Shifts and widens the map so that the pitch measured over many sentences is the intended one. */
export function correctPitchMap(
  map: PitchMap,
  sentences: readonly SentencePitch[],
  bias: PitchBias,
): PitchMap {
  let better = map;
  for (let round = 0; round < ROUNDS; round++) {
    const planned = plannedPitch(better, sentences);
    const range = map.intended.spread / (bias.range * standardDeviation(planned) || 1);
    const level = map.intended.centre - (percentile(planned, 0.5) + bias.level);
    better = {
      ...better,
      centre: clamp(better.centre + level, map.ownCentre + MIN_SHIFT, map.ownCentre + MAX_SHIFT),
      target: better.target.map((value) => value * clamp(range, MIN_WIDENED, MAX_WIDENED)),
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

/** Returns the mapped register. Sentences keep a little of their difference in pitch. */
export function mappedRegister(map: PitchMap): Register {
  return {
    centreHz(medianHz) {
      const off = Math.log(medianHz) - map.ownCentre;
      return Math.exp(map.centre + clamp(off, -MAX_OFF, MAX_OFF));
    },
    spread: (deviation) => between(map.own, map.target, deviation),
  };
}

/** Returns the mapped range as a factor on our own. */
export function mappedRange({ own, target: theirs }: PitchMap): number {
  return (theirs.at(-1)! - theirs[0]!) / (own.at(-1)! - own[0]! || 1);
}

/** Interpolates linearly, slightly flatter beyond the ends. */
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
/** Limits of the bias: beyond them the measurement is wrong. */
const MAX_LEVEL_BIAS = 0.15;
const MIN_RANGE_BIAS = 0.5;
const MAX_RANGE_BIAS = 1.3;
const MIN_VOICED = 40;
/** After the second round the error is small. */
const ROUNDS = 3;
const MIN_WIDENED = 0.7;
const MAX_WIDENED = 1.4;

export interface SentencePitch {
  readonly centre: number;
  /** Difference of each audibly voiced frame from it. */
  readonly deviations: Float32Array;
}

/** A voice's pitch over the calibration sentences. */
export interface BaselinePitch {
  readonly centre: number;
  /** Deviations of all sentences, sorted. */
  readonly deviations: Float32Array;
  readonly sentences: readonly SentencePitch[];
}

/** Sentences that the voice plans to measure its own pitch, and of which it speaks the first few. */
export const CALIBRATION_SENTENCES: readonly string[] = [
  "Good coffee, fresh bread, a view of the harbour: what more could you ask?",
  "Please put the yellow box beside the window.",
  "Rain fell on the roof all night, but the fields were dry by noon.",
  "Nobody knows why the cat sleeps in that huge green jar.",
  "Yes, of course we can.",
  "She thought about the change for a week, and then she joined them.",
  "He told us the way to the station, and it was wrong.",
  "My father used to say that a good road is worth a long wait.",
  "They sell fish and cheese on the square each Thursday.",
  "We should have asked the doctor.",
  "Bring me the smaller one, and leave the rest.",
  "Thank you, that is very kind.",
  "The letters lay in the bottom drawer.",
  "Most of the children had already gone home when it began to snow.",
];

export async function measureBaselinePitch(
  network: PlanningNetwork,
  timings: readonly Timing[],
): Promise<BaselinePitch> {
  const sentences: SentencePitch[] = [];
  for (const timing of timings) sentences.push(sentencePitch(await planContour(network, timing)));
  return summarisePitch(sentences);
}

export function sentencePitch({ pitchHz, energy }: Contour): SentencePitch {
  const centre = Math.log(medianPitchHz(pitchHz) ?? 1);
  const measured = pitchHz.filter((hz, frame) => hz > VOICED_ABOVE_HZ && energy[frame]! >= MIN_VOICED_ENERGY);
  return { centre, deviations: measured.map((hz) => Math.log(hz) - centre) };
}

export function summarisePitch(sentences: readonly SentencePitch[]): BaselinePitch {
  return {
    centre: percentile(
      sentences.map((sentence) => sentence.centre),
      0.5,
    ),
    deviations: Float32Array.from(sentences.flatMap(({ deviations }) => [...deviations])).sort(),
    sentences,
  };
}

/** Voiced frames with less energy are inaudible. */
const MIN_VOICED_ENERGY = 2;
