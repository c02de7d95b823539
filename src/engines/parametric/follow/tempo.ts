import { FRAME_S, FRAMES_PER_STEP } from "../../../planning/frames.ts";
import { planTiming, wholeSteps } from "../../../planning/plan.ts";
import type { SegmentReader } from "../../../planning/segments.ts";
import { wordSpans } from "../../../planning/spoken-words.ts";
import type { VoiceProfile } from "../listen/voice-profile.ts";
import type { Network } from "../network.ts";

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
export function heardTempo(clips: readonly SaidClip[]): number {
  let [sum, weight] = [0, 0];
  for (const { profile, ownS } of clips) {
    const known = ownS === null ? 0 : ownS / Math.max(MIN_S, profile.speechS);
    const isLikely = known > 1 / MAX_TEMPO && known < MAX_TEMPO;
    sum += profile.speechS * Math.log(isLikely ? known : countedTempo(profile));
    weight += profile.speechS;
  }
  return weight > 0 ? Math.exp(sum / weight) : 1;
}

/** A count is less sure than words, and other languages have more syllables than English: fast speech is believed less. */
function countedTempo({ syllablesPerS }: VoiceProfile): number {
  if (syllablesPerS === 0) return 1;
  return Math.max(MIN_COUNTED, Math.min(MAX_COUNTED, (syllablesPerS / OWN_SYLLABLES_PER_S) ** EXPANSION));
}

/** How long our voice would be heard over a text, pauses left out; null where it has nothing to read, or too much. */
export async function ownSpeechS(
  network: Network,
  reader: SegmentReader,
  text: string,
): Promise<number | null> {
  if (text.length > MAX_CHARACTERS) return null;
  let steps = 0;
  for (const sentence of reader.split(text)) {
    for (const { ids } of await reader.read(sentence.text)) {
      const timing = await planTiming(network, ids);
      for (const { from, to } of wordSpans(ids)) {
        for (let i = from; i < to; i++) steps += wholeSteps(timing.steps[i]!);
      }
    }
  }
  return steps > 0 ? steps * FRAMES_PER_STEP * FRAME_S * HEARD_PER_PLANNED : null;
}

/** What syllable nuclei are counted in a second of our own speech (voice `0`: 3.9 to 4, by the sentences). */
const OWN_SYLLABLES_PER_S = 4;
/** Speech that is found in our own audio, for each second that its words were planned to last. */
const HEARD_PER_PLANNED = 1.043;
const EXPANSION = 1.3;
const MIN_COUNTED = 0.72;
const MAX_COUNTED = 1.14;
/** Words that would be spoken further from our rate than this were not these words. */
const MAX_TEMPO = 1.6;
const MIN_S = 0.2;
/** About a minute of speech. */
const MAX_CHARACTERS = 1_000;
