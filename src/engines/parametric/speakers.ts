import { createTimbre } from "./colour.ts";
import type { Register } from "./delivery.ts";
import { createHold } from "./hold.ts";
import type { Plan } from "./plan.ts";
import { type Colouring, PLAIN } from "./waveform.ts";

/** Somebody who speaks with the network's weights. */
export interface Speaker {
  readonly register: Register;
  /** How one sentence's spectra are coloured: made anew for each, since a colouring may remember the frame before. */
  colour(plan: Plan): Colouring;
  /** Above 1 is faster. */
  readonly tempo: number;
  /** How far loud and soft sounds are apart: a factor on the energy's distance from its median. */
  readonly dynamics: number;
  /** Length of the silence between sentences, as a factor. */
  readonly pause: number;
  /** Factor on every sample. */
  readonly gain: number;
}

/** A voice that the network's weights give without having heard anybody. */
export interface Voice extends Speaker {
  /** Its vocal tract: where formants go, against the voice as it was trained. */
  readonly warp: number;
  readonly tiltDbPerOctave: number;
  /** What these two do to a frame. */
  readonly timbre: Colouring;
  /** Its pitch, against the voice as it was trained: level and range as factors. */
  readonly level: number;
  readonly range: number;
  /** How loud it speaks (ITU-R BS.1770; measured on the Harvard sentences). */
  readonly loudnessLufs: number;
}

/**
 * `0` is the voice as it was trained, a woman's. `1` is a man's, derived from it: pitch × 0.6 with nine tenths of its
 * range, a vocal tract a fifth longer, and the treble that this costs put back.
 */
export function createVoices(): ReadonlyMap<string, Voice> {
  return new Map([
    ["0", voice({ level: 1, range: 1, warp: 1, tiltDbPerOctave: 0, loudnessLufs: -26.1 })],
    ["1", voice({ level: 0.6, range: 0.9, warp: 0.84, tiltDbPerOctave: 2, loudnessLufs: -25.6 })],
  ]);
}

type VoiceFigures = Pick<Voice, "level" | "range" | "warp" | "tiltDbPerOctave" | "loudnessLufs">;

function voice(figures: VoiceFigures): Voice {
  const { level, range, warp, tiltDbPerOctave } = figures;
  const timbre = warp === 1 && tiltDbPerOctave === 0 ? PLAIN : createTimbre({ warp, tiltDbPerOctave });
  return {
    register: { centreHz: (medianHz) => medianHz * level, spread: (deviation) => deviation * range },
    timbre,
    colour: level === 1 ? () => timbre : (plan) => createHold(timbre, plan),
    tempo: 1,
    dynamics: 1,
    pause: 1,
    gain: 1,
    ...figures,
  };
}
