import { clampPitch, medianPitchHz, type Register } from "../delivery.ts";
import { FRAMES_PER_STEP, VOICED_ABOVE_HZ } from "../frames.ts";
import { AUDIBLE_ENERGY, type Plan } from "../plan.ts";
import { wordSpans } from "../spoken-words.ts";
import type { ContinuationRise } from "./list-intonation.ts";
import type { Rhythm } from "./rhythm.ts";

export function shiftRegister({ semitones, range }: Rhythm, register: Register): Register {
  return {
    centreHz: (medianHz) => register.centreHz(medianHz) * 2 ** (semitones / 12),
    spread: (deviation) => register.spread(deviation * range),
  };
}

/** Applies continuation rises, the question rise and an exclamation's energy to a finished contour. */
export function applyIntonation(
  plan: Plan,
  { riseSemitones, continuationRises: lifts, energy }: Rhythm,
): void {
  if (energy !== 0) {
    for (let frame = 0; frame < plan.energy.length; frame++) {
      if (plan.energy[frame]! >= AUDIBLE_ENERGY) plan.energy[frame]! += energy;
    }
  }
  const medianHz = medianPitchHz(plan.pitchHz);
  if (medianHz === null) return;
  for (const lift of lifts) raiseWordEnd(plan, lift, medianHz);
  if (riseSemitones > 0) applyQuestionRise(plan, riseSemitones, medianHz);
}

function raiseWordEnd(
  plan: Plan,
  { word, toSemitones, maxSemitones }: ContinuationRise,
  medianHz: number,
): void {
  const span = wordSpans(plan.ids)[word];
  if (span === undefined) return;
  const begin = firstFrameOf(plan, span.from);
  const end = lastAudiblyVoiced(plan, firstFrameOf(plan, span.to));
  if (end < begin) return;
  const near = plan.pitchHz.subarray(Math.max(begin, end - NEAR_END_FRAMES), end + 1);
  const ownSemitones = 12 * Math.log2(Math.max(...near) / medianHz);
  const missing = Math.min(maxSemitones, toSemitones - ownSemitones);
  if (missing <= 0) return;
  const from = Math.max(begin, end - LIFT_FRAMES);
  for (let frame = from; frame < Math.min(plan.frames, end + RELEASE_FRAMES); frame++) {
    const share = frame <= end ? (frame - from + 1) / (end - from + 1) : 1 - (frame - end) / RELEASE_FRAMES;
    move(plan, frame, plan.pitchHz[frame]! * 2 ** ((missing * smooth(share)) / 12));
  }
}

/**
 * Replaces the network's fall by a rise from a little below the median, from the last stressed vowel on, 300 to 450
 * ms (the low accent and high boundary of an English yes/no question, L* H-H%; Pierrehumbert, 1980). So the rise is
 * the same however deep the fall was; in less time it is smaller.
 */
function applyQuestionRise(plan: Plan, semitones: number, medianHz: number): void {
  const { pitchHz } = plan;
  const end = lastAudiblyVoiced(plan, plan.frames);
  const first = pitchHz.findIndex((hz) => hz > VOICED_ABOVE_HZ);
  if (end < 0) return;
  const stressed = firstFrameOf(plan, plan.ids.lastIndexOf(STRESS_ID));
  const wanted = Math.max(MIN_RISE_FRAMES, Math.min(MAX_RISE_FRAMES, end - stressed));
  const from = Math.max(first, end - wanted);
  const top = semitones * Math.min(1, (end - from) / MIN_RISE_FRAMES);
  for (let frame = Math.max(0, from - BLEND_FRAMES); frame < pitchHz.length; frame++) {
    const part = Math.max(0, Math.min(1, (frame - from) / Math.max(1, end - from)));
    const target = medianHz * 2 ** ((LOW_SEMITONES + top * part ** BEND) / 12);
    const share = smooth(Math.min(1, (frame - from + BLEND_FRAMES) / BLEND_FRAMES));
    move(plan, frame, pitchHz[frame]! ** (1 - share) * target ** share);
  }
}

function move({ pitchHz }: Plan, frame: number, hz: number): void {
  if (pitchHz[frame]! > VOICED_ABOVE_HZ) pitchHz[frame] = clampPitch(hz);
}

/** Returns the last audibly voiced frame before `to`; -1 if there is none. */
function lastAudiblyVoiced({ pitchHz, energy }: Plan, to: number): number {
  let frame = Math.min(to, pitchHz.length) - 1;
  while (frame >= 0 && !(pitchHz[frame]! > VOICED_ABOVE_HZ && energy[frame]! >= MIN_VOICED_ENERGY)) frame--;
  return frame;
}

function firstFrameOf({ steps }: Plan, index: number): number {
  let at = 0;
  for (let before = 0; before < index; before++) at += steps[before]!;
  return at * FRAMES_PER_STEP;
}

function smooth(part: number): number {
  return part * part * (3 - 2 * part);
}

/** Id of `ˈ` in voices/heart/vocab.json, which precedes a stressed vowel. */
const STRESS_ID = 156;
/** Voiced frames with less energy are inaudible. */
const MIN_VOICED_ENERGY = 2;
const LOW_SEMITONES = -0.5;
/** Exponent of a rise over its frames: above 1 it is steepest at its end. */
const BEND = 1.3;
/** 300 and 450 ms. */
const MIN_RISE_FRAMES = 24;
const MAX_RISE_FRAMES = 36;
/** 125 ms before a rise, in which the pitch falls to its start. */
const BLEND_FRAMES = 10;
/** Frames at a word's end, 75 ms, whose maximum is its final pitch, since a closing consonant dips. */
const NEAR_END_FRAMES = 6;
const LIFT_FRAMES = 16;
const RELEASE_FRAMES = 8;
