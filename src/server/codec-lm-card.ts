import type { LocalVoice } from "../catalogue/offered-models.ts";
import type { Checkpoint } from "../engines/codec-lm/checkpoint.ts";

/** Which codec language model a checkpoint is of, as far as its settings depend on it; `null` for CSM. */
export type CodecLmKind = Checkpoint["qwen3Tts"];

/** What there is to know of a checkpoint before one uses it, in the words of a card. @param name as the settings have it */
export function localVoice(name: string, kind: CodecLmKind): LocalVoice {
  if (kind === null) {
    return {
      reads: "everybody",
      description:
        `Spoken here by “${name}”, a CSM: it reads the earlier turns, their words and their sound, and speaks on from ` +
        `them. Where there are too many it forgets the oldest. ${ALL}`,
    };
  }
  const { size } = kind;
  const begin = `Spoken here by “${name}”, a Qwen3-TTS (${size}).`;
  if (kind.kind === "base") {
    return {
      reads: "speaker",
      description:
        `${begin} It does not hear others' turns: of the conversation it takes the speaker's own latest ones that have ` +
        `sound, to keep their voice and manner. A speaker without any, and without a clip in the settings, cannot be spoken for. ${ALL}`,
    };
  }
  const voice =
    kind.kind === "custom_voice"
      ? "with a voice that it was taught"
      : "with a voice that a description in the settings designs";
  return { description: `${begin} It speaks ${voice}, and does not hear earlier turns. ${ALL}` };
}

const ALL = "It tells no times of words. Nobody has judged its sound here.";
