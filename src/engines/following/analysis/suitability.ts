import { FRAME_S } from "../../prosody/frames.ts";
import type { Activity } from "./activity.ts";
import type { ClipFrames } from "./clip-frames.ts";
import type { PitchTrack } from "./pitch-track.ts";
import type { RecordingConditions } from "./recording-conditions.ts";
import { standardDeviation } from "./statistics.ts";

/** Why a clip is followed less than it might be. */
export type Caution =
  | "short"
  | "no voice"
  | "noise"
  | "narrow band"
  | "clipping"
  | "not one voice"
  | "unlike speech";

/** How far what was heard can be trusted to be one person speaking, and what speaks against it. */
export interface Suitability {
  /** 0: not at all, to 1: fully. */
  readonly trust: number;
  /** What was not as it should be; "narrow band" alone costs no trust. */
  readonly cautions: readonly Caution[];
}

/** What a clip was measured to be. */
export interface Measured {
  readonly frames: ClipFrames;
  readonly track: PitchTrack;
  readonly activity: Activity;
  readonly recording: RecordingConditions;
}

/**
 * Judges by figures: how much voice there is; the noise and the clipping; how much the level moves (music and tones keep
 * theirs, speech does not); and whether it moves little although the voicing comes and goes often, as it does when one
 * voice fills the other's pauses. The limits lie between what was measured on fourteen speakers and on what is to be
 * told from them: mixtures of two of them, chords, melodies, noises.
 */
export function suitabilityOf(measured: Measured): Suitability {
  const figures = figuresOf(measured);
  const cautions: Caution[] = [];
  let trust = 1;
  const weigh = (caution: Caution, factor: number): void => {
    trust *= factor;
    if (factor < NOTED) cautions.push(caution);
  };
  const { recording } = measured;
  if (figures.voicedS < MIN_VOICED_S) return { trust: 0, cautions: ["no voice"] };
  weigh("noise", ramp(recording.signalToNoiseDb, 4, 16));
  weigh("clipping", ramp(recording.clippedShare, 0.12, 0.03));
  weigh("not one voice", ramp(figures.levelSpreadDb / figures.switchesPerS, 0.7, 1));
  weigh("unlike speech", ramp(figures.levelSpreadDb, 2, 4.5) * ramp(figures.pitchSpread, 0.004, 0.02));
  if (recording.bandEdgeHz < WIDE_BAND_HZ) cautions.push("narrow band");
  return { trust, cautions };
}

/** Figures by which {@link suitabilityOf} judges. */
export interface Figures {
  /** Seconds of voiced speech. */
  readonly voicedS: number;
  /** How often in a second of speech the voicing begins or ends. */
  readonly switchesPerS: number;
  /** Standard deviation of the level in speech, decibels. */
  readonly levelSpreadDb: number;
  /** Standard deviation of the pitch's natural logarithm. */
  readonly pitchSpread: number;
}

function figuresOf({ frames, track, activity }: Measured): Figures {
  const { isSpeech } = activity;
  const voiced: number[] = [];
  const levels: number[] = [];
  let switches = 0;
  for (let frame = 0; frame < frames.count; frame++) {
    if (isSpeech[frame] !== 1) continue;
    levels.push(frames.levelDb[frame]!);
    const isVoiced = track.pitchHz[frame]! > 0;
    if (isVoiced) voiced.push(frame);
    if (frame > 0 && isVoiced !== track.pitchHz[frame - 1]! > 0) switches++;
  }
  return {
    voicedS: voiced.length * FRAME_S,
    switchesPerS: switches / Math.max(FRAME_S, activity.speechS),
    levelSpreadDb: standardDeviation(levels),
    pitchSpread: standardDeviation(voiced.map((frame) => Math.log(track.pitchHz[frame]!))),
  };
}

const MIN_VOICED_S = 0.1;
/** A factor above this is not worth a word. */
const NOTED = 0.95;
const WIDE_BAND_HZ = 6_000;

/** 0 at `none`, 1 at `all`, a straight line between; `none` may be the greater of them. */
function ramp(value: number, none: number, all: number): number {
  return Math.max(0, Math.min(1, (value - none) / (all - none)));
}
