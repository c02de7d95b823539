import type { ChosenVoice, VoicePart } from "../../core/script.ts";
import { ConversationError } from "../../core/speech-model.ts";

/** What a voice is called by whom the settings name it for; what they do not name is called the same there. */
export function calledThere(name: string, voices: Readonly<Record<string, string>>): string {
  return Object.hasOwn(voices, name) ? voices[name]! : name;
}

/** The name of a voice that was chosen without the settings knowing it; `null` where none was. */
export function passedOnName(
  part: VoicePart | null,
  voices: Readonly<Record<string, string>>,
): string | null {
  return part !== null && "id" in part && !Object.hasOwn(voices, part.id) ? part.id : null;
}

/** The one voice that a script chooses; `null` where it leaves that to the speaker's label. Throws {@link ConversationError} for a mix. */
export function chosenPart(voice: ChosenVoice | undefined): VoicePart | null {
  if (voice === undefined) return null;
  const [part] = voice;
  if (part !== undefined && voice.length === 1) return part;
  throw new ConversationError("this model speaks with one voice at a time: choose one, and no mix");
}
