import { FRAMES_PER_STEP, VOICED_ABOVE_HZ } from "./frames.ts";
import { AUDIBLE_ENERGY, type Plan, type Timing } from "./plan.ts";
import type { Random } from "./random.ts";

export interface Prosody {
  readonly stretch: readonly number[];
  /** Factor on the pitch as a whole. */
  readonly level: number;
  /** Exponent on the pitch's distance from its median. */
  readonly range: number;
  readonly words: readonly number[];
  readonly wordPitch: readonly number[];
}

/** A speaker's pitch relative to the voice as trained. */
export interface Register {
  /** Returns the median of a sentence that the network would speak at `medianHz`. */
  centreHz(medianHz: number): number;
  /** Returns the pitch's distance from the median (natural logarithm) where the network's is `deviation`. */
  spread(deviation: number): number;
}

export interface PlannedSpeaker {
  readonly register: Register;
  readonly tempo: number;
  /** Factor on the energy's distance from its median. */
  readonly dynamics: number;
  /** Factor on the silence at marks and between sentences. */
  readonly pause: number;
  /** Energy of audible room noise in the speaker's recordings: around a sentence it counts as silence. */
  readonly roomEnergy?: number;
}

/**
 * Draws a delivery. At strength 0 it changes nothing; deviations grow with the strength: 1 is an ordinary reading, 4
 * the liveliest found harmless. Tempo, level and range vary by sentence; length, pitch and pauses by word, with pitch
 * drifting from word to word (a first-order autoregression).
 */
export function drawProsody(ids: readonly number[], strength: number, random: Random): Prosody {
  const words = wordsOf(ids);
  const tempo = Math.exp(TEMPO * strength * random.nearNormal());
  const level = 2 ** ((LEVEL_SEMITONES * strength * random.nearNormal()) / 12);
  const range = Math.exp(RANGE * strength * random.nearNormal());
  const wordPitch: number[] = [];
  const wordLength: number[] = [];
  let drift = 0;
  for (let word = 0; word <= words.at(-1)!; word++) {
    drift = 0.6 * drift + 0.8 * random.nearNormal();
    wordPitch.push(WORD_SEMITONES * strength * drift);
    wordLength.push(Math.exp(WORD_LENGTH * strength * random.nearNormal()));
  }
  const stretch = ids.map((id, index) => {
    const pause = PAUSE_IDS.has(id) ? Math.exp(PAUSE_LENGTH * strength * random.nearNormal()) : 1;
    return Math.min(MAX_STRETCH, Math.max(MIN_STRETCH, wordLength[words[index]!]! / tempo)) * pause;
  });
  return { stretch, level, range, words, wordPitch };
}

/** Scales phoneme lengths, between a plan's two halves. @param rate above 1 is faster */
export function editTiming({ steps }: Timing, { stretch }: Prosody, rate: number): void {
  for (let i = 0; i < steps.length; i++) steps[i]! *= stretch[i]! / rate;
}

/**
 * Edits the pitch around its median, in logarithms: `level` moves the whole, `range` the distance from the median;
 * then adds the words' pitch, smoothed over 160 ms.
 */
export function editContour(plan: Plan, prosody: Prosody, register: Register): void {
  const { pitchHz, owner } = plan;
  const median = medianPitchHz(pitchHz);
  if (median === null) return;
  const centre = register.centreHz(median) * prosody.level;
  const semitonesAt = (frame: number) =>
    prosody.wordPitch[prosody.words[owner[Math.floor(frame / FRAMES_PER_STEP)]!]!]!;
  for (let frame = 0; frame < pitchHz.length; frame++) {
    if (pitchHz[frame]! <= VOICED_ABOVE_HZ) continue;
    const from = Math.max(0, frame - SMOOTHING_FRAMES);
    const to = Math.min(pitchHz.length - 1, frame + SMOOTHING_FRAMES);
    let semitones = 0;
    for (let near = from; near <= to; near++) semitones += semitonesAt(near);
    const deviation = register.spread(Math.log(pitchHz[frame]! / median) * prosody.range);
    pitchHz[frame] = clampPitch(centre * Math.exp(deviation) * 2 ** (semitones / (to - from + 1) / 12));
  }
}

/** Scales the energy around its median; silence stays silent. @param dynamics 1 changes nothing */
export function editEnergy({ energy }: Plan, dynamics: number): void {
  if (dynamics === 1) return;
  const audible = energy.filter((value) => value >= AUDIBLE_ENERGY).sort();
  const median = audible[audible.length >> 1] ?? 0;
  for (let frame = 0; frame < energy.length; frame++) {
    if (energy[frame]! < AUDIBLE_ENERGY) continue;
    energy[frame] = Math.max(AUDIBLE_ENERGY, median + dynamics * (energy[frame]! - median));
  }
}

export function clampPitch(hz: number): number {
  return Math.max(MIN_HZ, Math.min(MAX_HZ, hz));
}

/** Returns the median over the voiced frames; `null` if there are none. */
export function medianPitchHz(pitchHz: Float32Array): number | null {
  const voiced = pitchHz.filter((hz) => hz > VOICED_ABOVE_HZ).sort();
  return voiced[voiced.length >> 1] ?? null;
}

/** Returns the index of each phoneme's word; a space counts to the word before it. */
function wordsOf(ids: readonly number[]): number[] {
  let word = 0;
  return ids.map((id) => (id === SPACE_ID ? word++ : word));
}

/** Limits of tempo: beyond them words are lost (measured with Whisper: rate 1.4 quintuples the errors). */
export const MIN_STRETCH = 0.87;
export const MAX_STRETCH = 1.4;

/** Ids of `; : , . ! ? — …` in voices/heart/vocab.json. */
const PAUSE_IDS: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 6, 9, 10]);
const SPACE_ID = 16;
const TEMPO = 0.045;
const LEVEL_SEMITONES = 0.55;
const RANGE = 0.13;
const WORD_SEMITONES = 0.5;
const WORD_LENGTH = 0.055;
const PAUSE_LENGTH = 0.3;
const MIN_HZ = 55;
const MAX_HZ = 500;
/** Either side: 13 frames are 160 ms. */
const SMOOTHING_FRAMES = 6;
