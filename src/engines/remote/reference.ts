import type { Clip, SpeakerLabel, Turn } from "../../model/conversation.ts";
import { base64Wav } from "./base64-wav.ts";

/** A voice to clone: somebody's words, and how they sounded. */
export interface Reference {
  readonly text: string;
  /** A WAV in base64, in pieces. */
  readonly wavBase64: readonly Uint8Array[];
}

/** What servers take. */
const SECONDS = { min: 1, max: 30 } as const;

/** The speaker's latest clip whose words are known, of 1 to 30 s; `null` where there is none. */
export async function referenceIn(
  history: readonly Turn[],
  speaker: SpeakerLabel,
  signal: AbortSignal,
): Promise<Reference | null> {
  for (const { speaker: of, text, audio } of history.toReversed()) {
    if (of !== speaker || text === null || audio === null || !isSuitable(audio)) continue;
    return { text, wavBase64: await base64Wav(audio, signal) };
  }
  return null;
}

/** Of a clip whose end was left out the words are too many. */
function isSuitable({ durationS, samples, sampleRateHz }: Clip): boolean {
  const isWhole = samples.length >= durationS * sampleRateHz - 1;
  return isWhole && durationS >= SECONDS.min && durationS <= SECONDS.max;
}
