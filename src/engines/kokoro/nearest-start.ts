import { percentile } from "../following/analysis/statistics.ts";
import { voiceDistance } from "../following/lead.ts";

/** One of Kokoro's voices that following may set out from. */
export interface StartingVoice {
  readonly id: string;
  /** The median of its pitch, as it is heard. */
  readonly pitchHz: number;
  /** Length of its vocal tract against the reference's, as `estimateWarp` has it. */
  readonly tract: number;
}

/** Who may be set out from. */
export interface Starts {
  /** The voice that vocal tracts are measured against. */
  readonly reference: string;
  readonly voices: readonly StartingVoice[];
}

/**
 * The voice whose pitch and vocal tract are least far from somebody's.
 *
 * @param pitch theirs, as in `VoiceProfile`
 * @param tract theirs, against the reference's
 * @throws Error where there is none
 */
export function nearestStart(
  voices: readonly StartingVoice[],
  { pitch, tract }: { readonly pitch: Float32Array; readonly tract: number },
): StartingVoice {
  const theirs = percentile(pitch, 0.5);
  const farness = (voice: StartingVoice) =>
    voiceDistance(theirs - Math.log(voice.pitchHz), Math.log(tract / voice.tract));
  const [nearest] = voices.toSorted((a, b) => farness(a) - farness(b));
  if (nearest === undefined) throw new Error("There is no voice to begin with.");
  return nearest;
}
