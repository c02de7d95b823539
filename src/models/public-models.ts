import type { ModelCard, ModelVoice, VoiceSupport } from "../core/model-card.ts";
import type { Preset, RequestedManner } from "../core/script.ts";

/** A model as requests name it, and what stands behind the name. */
export interface PublicModel {
  readonly card: ModelCard;
  /** The name of the checkpoint that speaks for it. */
  readonly checkpoint: string;
  /** What it asks of its checkpoint that other models of the same checkpoint do not. */
  readonly preset: Preset;
  /** How voices of it speak where nothing else is asked for, by their ids. */
  readonly manners?: ReadonlyMap<string, RequestedManner>;
  /** Whether its checkpoint is loaded at the start and stays. */
  readonly isResident: boolean;
  /** Whose earlier turns' words its checkpoint reads with their sound; absent, nobody's. */
  readonly reads?: "everybody" | "speaker";
}

/** The model of that id; the default for `null`; `undefined` for an id that is not offered. */
export function findModel(models: readonly PublicModel[], id: string | null): PublicModel | undefined {
  return models.find(({ card }) => (id === null ? card.isDefault : card.id === id));
}

/** Name of the checkpoint that is part of the repository. */
export const EMBEDDED_CHECKPOINT = "heart";

/**
 * The embedded voice's people. OpenAI's thirteen names mean twelve of them: `alloy`, its clients' default, and `nova` both mean
 * `0`, and `2` has no other name.
 */
export const EMBEDDED_VOICES: readonly ModelVoice[] = (
  [
    ["0", "female", "A woman's voice.", "alloy", "nova"],
    ["1", "male", "A man's voice.", "echo"],
    ["2", "female", "A low woman's voice."],
    ["3", "male", "A light man's voice.", "ash"],
    ["4", "female", "A bright woman's voice.", "shimmer"],
    ["5", "female", "A clear woman's voice.", "marin"],
    ["6", "male", "A calm man's voice.", "cedar"],
    ["7", "male", "A very deep man's voice.", "onyx"],
    ["8", "female", "A gentle woman's voice.", "sage"],
    ["9", "male", "A lively man's voice.", "verse"],
    ["10", "male", "A storyteller's voice, a man's.", "fable"],
    ["11", "female", "A relaxed woman's voice.", "coral"],
    ["12", "male", "A grave man's voice.", "ballad"],
  ] as const
).map(([id, sex, description, ...aliases]) => ({
  id,
  name: `Speaker ${id}`,
  sex,
  accent: "en-US",
  description,
  aliases,
}));

/** A recording is followed as the audio of earlier turns is; two voices do not make a third. */
export const EMBEDDED_VOICE_SUPPORT: VoiceSupport = {
  mixes: false,
  samples: true,
  manner: "figures",
  marks: true,
  englishOnly: true,
};

/** The speakers of every public model. */
export const SPEAKERS: readonly string[] = ["0", "1"];

/** Returns a public model that the embedded voice speaks for. */
function embeddedModel(
  id: string,
  displayName: string,
  description: string,
  preset: Preset,
  isResident: boolean,
): PublicModel {
  const card: ModelCard = {
    ...{ id, displayName, description, modes: ["converse", "tts"], speakers: SPEAKERS },
    ...{ voices: EMBEDDED_VOICES, takes: EMBEDDED_VOICE_SUPPORT, isDefault: id === DEFAULT_MODEL },
  };
  return { card, checkpoint: EMBEDDED_CHECKPOINT, preset, isResident };
}

const DEFAULT_MODEL = "svc-beta-v0.3";

/**
 * The models that are offered, the default first, then from the newest to the oldest, the compact one last. All four
 * speak with the embedded voice until larger checkpoints are configured, and their descriptions say so.
 *
 * Presets: `liveliness` (0 to 1) scales how far delivery departs from the voice's own as the temperature rises;
 * `acoustics` tells whether fine acoustic detail does; `follows` says how much of a voice in earlier turns is taken up.
 */
export const PUBLIC_MODELS: readonly PublicModel[] = [
  embeddedModel(
    DEFAULT_MODEL,
    "Beta 0.3",
    "The flagship and the default, with the liveliest delivery. It follows all that it hears in earlier turns: " +
      "pitch, level, pace, vocal tract and colour of a voice. Speaks with the embedded neural voice “heart”, on the CPU.",
    { liveliness: 1, acoustics: true, follows: "all" },
    true,
  ),
  embeddedModel(
    "svc-beta-v0.2",
    "Beta 0.2",
    "The flagship before 0.3: the same embedded neural voice “heart”, on the CPU, with a calmer delivery. Of an earlier " +
      "turn's voice it follows pitch, level, pace and vocal tract, not the colour.",
    { liveliness: 0.8, acoustics: true, follows: "tract" },
    false,
  ),
  embeddedModel(
    "svc-beta-v0.1",
    "Beta 0.1",
    "The first flagship: the same embedded neural voice “heart”, on the CPU, with the plainest delivery of the three. " +
      "Of an earlier turn's voice it follows pitch, level and pace.",
    { liveliness: 0.6, acoustics: true, follows: "pace" },
    false,
  ),
  embeddedModel(
    "svc-atom-beta-v0.1",
    "Atom Beta 0.1",
    "The compact model: the embedded neural voice “heart”, on the CPU, with an even delivery and no acoustic " +
      "variety. Of an earlier turn's voice it follows pitch and level alone, and so answers a new voice soonest; " +
      "otherwise it is hardly faster, since it shares its checkpoint with the flagship for now.",
    { liveliness: 0.5, acoustics: false, follows: "pitch" },
    true,
  ),
];

/**
 * The voices of labels by whatever speaks for them, of whom nothing is known but that the names are theirs: those of the
 * embedded voice's women mean the first, those of its men the second.
 */
export function speakerVoices(): readonly ModelVoice[] {
  return EMBEDDED_VOICES.slice(0, 2).map(({ id, name, sex }) => ({
    id,
    name,
    sex: null,
    accent: null,
    description: `The model's voice for the speaker ${id}.`,
    aliases: EMBEDDED_VOICES.filter((voice) => voice.sex === sex)
      .flatMap(({ aliases }) => aliases)
      .sort(),
  }));
}
