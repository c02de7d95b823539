import type { SpeakerLabel } from "../../../core/conversation.ts";
import { percentile } from "../../following/analysis/statistics.ts";
import { voiceDistance } from "../../following/lead.ts";
import type { OwnPitch } from "../../following/own-pitch.ts";
import type { Form, Voice } from "../speakers.ts";

/** Where following begins. */
export interface StartingVoice {
  readonly label: SpeakerLabel;
  readonly voice: Voice;
  readonly form: Form;
}

/**
 * The voice that is the better start on the way to somebody's, and its form: the one whose pitch, and vocal tract where that
 * was estimated, are less far away.
 *
 * @param pitch theirs, as in `VoiceProfile`
 */
export function nearestVoice(
  voices: ReadonlyMap<SpeakerLabel, Voice>,
  own: OwnPitch,
  { pitch, warp }: { readonly pitch: Float32Array; readonly warp: number | null },
): StartingVoice {
  const theirs = percentile(pitch, 0.5);
  const farness = ({ form: { level, warp: tract } }: StartingVoice) =>
    voiceDistance(theirs - own.centre - Math.log(level), warp === null ? null : Math.log(warp / tract));
  const starts = [...voices].flatMap(([label, voice]) => voice.forms.map((form) => ({ label, voice, form })));
  const [nearest] = starts.sort((a, b) => farness(a) - farness(b));
  if (nearest === undefined) throw new Error("There is no voice to begin with.");
  return nearest;
}
