import { FRAME_S, FRAMES_PER_STEP } from "../prosody/frames.ts";
import { type PlanningNetwork, planTiming, type Timing, wholeSteps } from "../prosody/plan.ts";
import type { SegmentReader } from "../prosody/segments.ts";
import { wordSpans } from "../prosody/spoken-words.ts";
import type { VoiceProfile } from "./analysis/voice-profile.ts";
import type { AnalysedClip } from "./reference-turns.ts";

/** A voice's own pace, as measured in its audio. */
export interface BaselinePace {
  readonly syllablesPerS: number;
  /** Seconds of measured speech per planned second. */
  readonly measuredPerPlanned: number;
}

export interface TimedClip {
  readonly profile: VoiceProfile;
  /** Seconds that our voice takes for the clip's words; `null` if they are unknown. */
  readonly baselineS: number | null;
}

/**
 * Returns a speaker's tempo relative to our voice, above 1 faster: by the time that we take for the same words, or by
 * syllable count, which grows more slowly than the rate (exponent 1.3, measured).
 */
export function relativeTempo(clips: readonly TimedClip[], own: BaselinePace = USUAL_PACE): number {
  let [sum, weight] = [0, 0];
  for (const { profile, baselineS: ownS } of clips) {
    const known = ownS === null ? 0 : ownS / Math.max(MIN_S, profile.speechS);
    const isLikely = known > 1 / MAX_TEMPO && known < MAX_TEMPO;
    sum += profile.speechS * Math.log(isLikely ? known : countedTempo(profile, own));
    weight += profile.speechS;
  }
  return weight > 0 ? Math.exp(sum / weight) : 1;
}

/** Counts are less reliable than words, and other languages have more syllables: fast speech is discounted. */
function countedTempo({ syllablesPerS }: VoiceProfile, own: BaselinePace): number {
  if (syllablesPerS === 0) return 1;
  return Math.max(MIN_COUNTED, Math.min(MAX_COUNTED, (syllablesPerS / own.syllablesPerS) ** EXPANSION));
}

/** Returns the seconds that our voice speaks for a text, without pauses; `null` if it is silent or too long. */
export async function baselineSpeechS(
  network: PlanningNetwork,
  reader: SegmentReader,
  text: string,
  own: BaselinePace = USUAL_PACE,
): Promise<number | null> {
  if (text.length > MAX_CHARACTERS) return null;
  let steps = 0;
  for (const sentence of await reader.split(text)) {
    for (const { ids } of await reader.read(sentence.text)) {
      steps += spokenSteps(await planTiming(network, ids));
    }
  }
  return steps > 0 ? steps * FRAMES_PER_STEP * FRAME_S * own.measuredPerPlanned : null;
}

/** Returns the planned steps of a sentence's words, pauses excluded. */
export function spokenSteps({ ids, steps }: Spoken): number {
  let sum = 0;
  for (const { from, to } of wordSpans(ids)) {
    for (let i = from; i < to; i++) sum += wholeSteps(steps[i]!);
  }
  return sum;
}

type Spoken = Pick<Timing, "ids"> & { readonly steps: ArrayLike<number> };

/** Returns a speaker's tempo relative to our voice, over clips of which some have words. */
export async function clipTempo(
  network: PlanningNetwork,
  reader: SegmentReader,
  clips: readonly AnalysedClip[],
  own: BaselinePace = USUAL_PACE,
): Promise<number> {
  const said: TimedClip[] = [];
  for (const { profile, text } of clips) {
    said.push({
      profile,
      baselineS: text === null ? null : await baselineSpeechS(network, reader, text, own),
    });
  }
  return relativeTempo(said, own);
}

/** The embedded voice's (voice `0`: 3.9 to 4 syllables, depending on the sentences). */
const USUAL_PACE: BaselinePace = { syllablesPerS: 4, measuredPerPlanned: 1.043 };
const EXPANSION = 1.3;
const MIN_COUNTED = 0.72;
const MAX_COUNTED = 1.14;
/** Beyond this rate the words do not belong to the clip. */
const MAX_TEMPO = 1.6;
const MIN_S = 0.2;
/** About a minute of speech. */
const MAX_CHARACTERS = 1_000;
