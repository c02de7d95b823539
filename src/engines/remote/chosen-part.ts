import type { ChosenVoice, VoicePart } from "../../model/script.ts";
import { ConversationError } from "../../model/speech-model.ts";

/** The one voice that a script chooses; `null` where it leaves that to the speaker's label. Throws {@link ConversationError} for a mix. */
export function chosenPart(voice: ChosenVoice | undefined): VoicePart | null {
  if (voice === undefined) return null;
  const [part] = voice;
  if (part !== undefined && voice.length === 1) return part;
  throw new ConversationError("this model speaks with one voice at a time: choose one, and no mix");
}
