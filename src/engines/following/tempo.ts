import { FRAME_S, FRAMES_PER_STEP } from "../prosody/frames.ts";
import { type PlanningNetwork, planTiming, type Timing, wholeSteps } from "../prosody/plan.ts";
import type { SegmentReader } from "../prosody/segments.ts";
import { wordSpans } from "../prosody/spoken-words.ts";
import type { VoiceProfile } from "./analysis/voice-profile.ts";
import type { HeardClip } from "./whose-voice.ts";

/** How fast a voice of ours speaks, as listening finds it. */
export interface OwnPace {
  /** Syllable nuclei that are counted in a second of it. */
  readonly syllablesPerS: number;
  /** Speech that is found in its audio, for each second that its words were planned to last. */
  readonly heardPerPlanned: number;
}

/** A clip and what is said in it, as far as that is known. */
export interface SaidClip {
  readonly profile: VoiceProfile;
  /** How long our voice would speak for these words; null where they are not known. */
  readonly ownS: number | null;
}

/**
 * How fast somebody speaks against our voice, above 1 faster. Where the words are known, by how long we would take for
 * them; else by the syllables heard, whose count grows more slowly than the rate (exponent 1.3, measured).
 */
export function heardTempo(clips: readonly SaidClip[], own: OwnPace = USUAL_PACE): number {
  let [sum, weight] = [0, 0];
  for (const { profile, ownS } of clips) {
    const known = ownS === null ? 0 : ownS / Math.max(MIN_S, profile.speechS);
    const isLikely = known > 1 / MAX_TEMPO && known < MAX_TEMPO;
    sum += profile.speechS * Math.log(isLikely ? known : countedTempo(profile, own));
    weight += profile.speechS;
  }
  return weight > 0 ? Math.exp(sum / weight) : 1;
}

/** A count is less sure than words, and other languages have more syllables than English: fast speech is believed less. */
function countedTempo({ syllablesPerS }: VoiceProfile, own: OwnPace): number {
  if (syllablesPerS === 0) return 1;
  return Math.max(MIN_COUNTED, Math.min(MAX_COUNTED, (syllablesPerS / own.syllablesPerS) ** EXPANSION));
}

/** How long our voice would be heard over a text, pauses left out; null where it has nothing to read, or too much. */
export async function ownSpeechS(
  network: PlanningNetwork,
  reader: SegmentReader,
  text: string,
  own: OwnPace = USUAL_PACE,
): Promise<number | null> {
  if (text.length > MAX_CHARACTERS) return null;
  let steps = 0;
  for (const sentence of reader.split(text)) {
    for (const { ids } of await reader.read(sentence.text)) {
      steps += spokenSteps(await planTiming(network, ids));
    }
  }
  return steps > 0 ? steps * FRAMES_PER_STEP * FRAME_S * own.heardPerPlanned : null;
}

/** How many steps the words of a sentence are planned to last, pauses left out. */
export function spokenSteps({ ids, steps }: Spoken): number {
  let sum = 0;
  for (const { from, to } of wordSpans(ids)) {
    for (let i = from; i < to; i++) sum += wholeSteps(steps[i]!);
  }
  return sum;
}

/** A sentence's phonemes, and how many steps each lasts. */
type Spoken = Pick<Timing, "ids"> & { readonly steps: ArrayLike<number> };

/** How fast somebody speaks against our voice, in clips of which some have words. */
export async function saidTempo(
  network: PlanningNetwork,
  reader: SegmentReader,
  clips: readonly HeardClip[],
  own: OwnPace = USUAL_PACE,
): Promise<number> {
  const said: SaidClip[] = [];
  for (const { profile, text } of clips) {
    said.push({ profile, ownS: text === null ? null : await ownSpeechS(network, reader, text, own) });
  }
  return heardTempo(said, own);
}

/** The embedded voice's (voice `0`: 3.9 to 4 syllables, by the sentences). */
const USUAL_PACE: OwnPace = { syllablesPerS: 4, heardPerPlanned: 1.043 };
const EXPANSION = 1.3;
const MIN_COUNTED = 0.72;
const MAX_COUNTED = 1.14;
/** Words that would be spoken further from our rate than this were not these words. */
const MAX_TEMPO = 1.6;
const MIN_S = 0.2;
/** About a minute of speech. */
const MAX_CHARACTERS = 1_000;
