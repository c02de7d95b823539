import { FRAMES_PER_STEP, VOICED_ABOVE_HZ } from "./frames.ts";
import type { Plan, Timing } from "./plan.ts";
import type { Random } from "./random.ts";
import { AUDIBLE_ENERGY } from "./speech-span.ts";

/** How one sentence is delivered: drawn once, then used on both halves of its plan. */
export interface Prosody {
  /** Length of each phoneme, as a factor. */
  readonly stretch: readonly number[];
  /** Pitch as a whole, as a factor. */
  readonly level: number;
  /** Spread of the pitch around its median, as an exponent. */
  readonly range: number;
  /** Index of the word that each phoneme belongs to. */
  readonly words: readonly number[];
  /** Added pitch of each word, in semitones. */
  readonly wordPitch: readonly number[];
}

/** A speaker's own pitch, against the voice as it was trained. */
export interface Register {
  /** The median of a sentence that the network would speak at `medianHz`. */
  centreHz(medianHz: number): number;
  /** How far the pitch is from the median, as a natural logarithm, where the network would be `deviation` from it. */
  spread(deviation: number): number;
}

/**
 * Draws a delivery. At strength 0 it changes nothing; every deviation grows with the strength, 1 being an
 * ordinary reading and 4 the liveliest that was found harmless. Tempo, level and range vary by sentence; length,
 * pitch and pauses by word, pitch drifting from word to word (a first-order autoregression).
 */
export function drawProsody(ids: readonly number[], strength: number, random: Random): Prosody {
  const words = wordsOf(ids);
  const tempo = Math.exp(TEMPO * strength * random.gentle());
  const level = 2 ** ((LEVEL_SEMITONES * strength * random.gentle()) / 12);
  const range = Math.exp(RANGE * strength * random.gentle());
  const wordPitch: number[] = [];
  const wordLength: number[] = [];
  let drift = 0;
  for (let word = 0; word <= words.at(-1)!; word++) {
    drift = 0.6 * drift + 0.8 * random.gentle();
    wordPitch.push(WORD_SEMITONES * strength * drift);
    wordLength.push(Math.exp(WORD_LENGTH * strength * random.gentle()));
  }
  const stretch = ids.map((id, index) => {
    const pause = PAUSE_IDS.has(id) ? Math.exp(PAUSE_LENGTH * strength * random.gentle()) : 1;
    return Math.min(MAX_STRETCH, Math.max(MIN_STRETCH, wordLength[words[index]!]! / tempo)) * pause;
  });
  return { stretch, level, range, words, wordPitch };
}

/** Lengthens and shortens phonemes: the edit between a plan's two halves. @param rate above 1 is faster. */
export function editTiming({ steps }: Timing, { stretch }: Prosody, rate: number): void {
  for (let i = 0; i < steps.length; i++) steps[i]! *= stretch[i]! / rate;
}

/**
 * Moves the pitch: median-centred in its logarithm, so that `level` moves the whole and `range` only what is around
 * it; then the words' own pitch, smoothed over 160 ms.
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

/** Moves loud and soft sounds apart, or together. Silence stays silence. @param dynamics a factor, 1 changes nothing */
export function editEnergy({ energy }: Plan, dynamics: number): void {
  if (dynamics === 1) return;
  const audible = energy.filter((value) => value >= AUDIBLE_ENERGY).sort();
  const median = audible[audible.length >> 1] ?? 0;
  for (let frame = 0; frame < energy.length; frame++) {
    if (energy[frame]! < AUDIBLE_ENERGY) continue;
    energy[frame] = Math.max(AUDIBLE_ENERGY, median + dynamics * (energy[frame]! - median));
  }
}

/** A pitch held to what the voice can do, in hertz. */
export function clampPitch(hz: number): number {
  return Math.max(MIN_HZ, Math.min(MAX_HZ, hz));
}

/** Median over the voiced frames, or null where there are none. */
export function medianPitchHz(pitchHz: Float32Array): number | null {
  const voiced = pitchHz.filter((hz) => hz > VOICED_ABOVE_HZ).sort();
  return voiced[voiced.length >> 1] ?? null;
}

/** Index of the word that each phoneme belongs to; a space counts to the word before it. */
function wordsOf(ids: readonly number[]): number[] {
  let word = 0;
  return ids.map((id) => (id === SPACE_ID ? word++ : word));
}

/** Faster or slower than this costs words (measured with Whisper: rate 1.4 quintuples the errors). */
export const MIN_STRETCH = 0.87;
export const MAX_STRETCH = 1.4;

/** The ids of voices/heart/vocab.json that mark a pause: `; : , . ! ? — …`. */
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
/** On either side: 13 frames are 160 ms. */
const SMOOTHING_FRAMES = 6;
