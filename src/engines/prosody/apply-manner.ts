import type { RunManner } from "../../core/marked-text.ts";
import type { Preset, RequestedManner, Script, UnusedKnobs } from "../../core/script.ts";
import type { PlannedSpeaker } from "./delivery.ts";
import { clampPitch, medianPitchHz } from "./delivery.ts";
import { VOICED_ABOVE_HZ } from "./frames.ts";
import type { Plan, Timing } from "./plan.ts";
import { wordSpans } from "./spoken-words.ts";
import { spokenTimes } from "./word-timeline.ts";

/** Scales the lengths of words, between a plan's two halves. @param rate the tempo of the whole plan */
export function applyWordRates({ ids, steps }: Timing, manners: readonly RunManner[], rate: number): void {
  for (const [index, word] of wordOfEach(ids).entries()) {
    const asked = manners[word]?.rate ?? 1;
    if (asked === 1) continue;
    const { min, max } = SPOKEN_RATES;
    steps[index]! *= rate / Math.min(Math.max(max, rate), Math.max(Math.min(min, rate), rate * asked));
  }
}

export function applyWordPitch(plan: Plan, manners: readonly RunManner[]): void {
  const { pitchHz } = plan;
  const median = medianPitchHz(pitchHz);
  if (median === null) return;
  const words = wordOfFrames(plan);
  for (let frame = 0; frame < pitchHz.length; frame++) {
    const manner = manners[words[frame]!];
    if (manner === undefined || pitchHz[frame]! <= VOICED_ABOVE_HZ) continue;
    const { pitch, pitchHz: centre, addedHz } = manner;
    if (pitch === 1 && centre === null && addedHz === 0) continue;
    const moved = pitchHz[frame]! * ((centre ?? median) / median) * pitch + addedHz;
    pitchHz[frame] = clampPitch(moved);
  }
}

export function applyWordGains(plan: Plan, manners: readonly RunManner[]): Plan {
  if (manners.every(({ gain }) => gain === 1)) return plan;
  return { ...plan, gain: Float32Array.from(wordOfFrames(plan), (word) => manners[word]?.gain ?? 1) };
}

/** Returns each frame's word by when it sounds, which is earlier than the plan's durations say. */
function wordOfFrames(plan: Plan): Int32Array {
  const words = new Int32Array(plan.frames);
  for (const [word, { fromFrame }] of spokenTimes(plan).entries()) if (word > 0) words.fill(word, fromFrame);
  return words;
}

/** Returns each phoneme's word: sounds between words count to the word before, leading ones to the first. */
function wordOfEach(ids: readonly number[]): number[] {
  const spans = wordSpans(ids);
  let word = 0;
  return ids.map((_, index) => {
    if (index >= (spans[word + 1]?.from ?? Number.POSITIVE_INFINITY)) word += 1;
    return word;
  });
}

export type VoiceScript = Pick<Script, "history" | "speaker" | "voice" | "language" | "preset">;

/** Returns the script of a voice that the text names: without the history, so that nothing in it is followed. */
export function scriptForVoice(
  name: string,
  { voice: _usual, ...script }: VoiceScript & Pick<Script, "textVoices">,
): VoiceScript {
  const { voice, speaker = script.speaker } = script.textVoices?.[name] ?? { speaker: name };
  return { ...script, history: [], speaker, ...(voice === undefined ? {} : { voice }) };
}

export function applyManner<S extends PlannedSpeaker & { readonly gain: number }>(
  speaker: S,
  asked?: RequestedManner,
): S {
  if (asked === undefined) return speaker;
  const { register } = speaker;
  const { figures: manner } = asked;
  return {
    ...speaker,
    register: {
      centreHz: (medianHz: number) => register.centreHz(medianHz) * manner.pitch,
      spread: (deviation: number) => register.spread(deviation) * manner.range,
    },
    pause: speaker.pause * manner.pause,
    gain: speaker.gain * 10 ** (manner.levelDb / 20),
  };
}

export function scaleRate(preset: Preset, factor: number): Preset {
  return { ...preset, rate: (typeof preset.rate === "number" ? preset.rate : 1) * factor };
}

export interface PlannedOptions {
  /** 0 to 2, default 1: scales how far delivery departs from a plain reading as the temperature rises. */
  readonly liveliness: number;
  /** Tempo of the plan, taken from the manner. */
  readonly rate: number;
  /**
   * Factor by which the sound is then compressed in time, at the same pitch: the preset's `rate`, 0.5 to 2. A plan
   * cannot do it: durations count 25 ms, so 1.25 would come to 1.12.
   */
  readonly timeScale: number;
}

/** Reads a preset and a manner. Their product is limited to the range of speeds. */
export function plannedOptions(preset: Preset, asked?: RequestedManner): PlannedOptions {
  const { liveliness, rate: speed } = preset;
  const rate = asked?.figures.tempo ?? 1;
  return {
    liveliness: within(0, 2, typeof liveliness === "number" ? liveliness : 1),
    rate,
    timeScale: within(SPEEDS.min, SPEEDS.max, rate * (typeof speed === "number" ? speed : 1)) / rate,
  };
}

function within(min: number, max: number, value: number): number {
  return Math.min(max, Math.max(min, value));
}

const SPEEDS = { min: 0.5, max: 2 };

/** Durations count 25 ms: beyond these rates a plan loses sounds, or sounds freeze. */
export const SPOKEN_RATES = { min: 0.7, max: 1.25 };

/** Knobs that do nothing in a planned voice, each with the reason. */
export const UNUSED_SAMPLING_KNOBS: UnusedKnobs = {
  topK: "The voice chooses nothing from a list. It counts for replies that a language model in the server writes.",
  repetitionPenalty: "The voice makes no choices that could repeat.",
  penaltyWindow: "The voice makes no choices that could repeat.",
};
