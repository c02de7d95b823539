import type { ModelCard, ModelVoice, VoiceSupport } from "../core/model-card.ts";
import type { Preset, RequestedManner } from "../core/script.ts";

/** A model as requests name it, with the checkpoint that speaks for it. */
export interface PublicModel {
  readonly card: ModelCard;
  readonly checkpoint: string;
  /** Options that set it apart from other models of its checkpoint. */
  readonly preset: Preset;
  /** Default manners, by voice id. */
  readonly manners?: ReadonlyMap<string, RequestedManner>;
  /** Whether its checkpoint is loaded at the start and never unloaded. */
  readonly isResident: boolean;
  /** Turns whose text its checkpoint reads along with the audio: all, or those of the same speaker. Absent: none. */
  readonly reads?: "everybody" | "speaker";
}

/** Returns the model of that id, or the default for `null`. */
export function findModel(models: readonly PublicModel[], id: string | null): PublicModel | undefined {
  return models.find(({ card }) => (id === null ? card.isDefault : card.id === id));
}

/** Name of the checkpoint that is part of the package. */
export const EMBEDDED_CHECKPOINT = "heart";

/** Voices of the speaker labels in requests that name a language. */
export const EMBEDDED_LANGUAGE_LABELS = { es: { "0": "13", "1": "14" } };

/**
 * The embedded voice's people, in the order of their ids. Pitches are medians over four sentences; ages are what the
 * voices suggest. OpenAI's clients default to `alloy`, which means Maya. Greta, Paloma and Mateo have no alias.
 */
export const EMBEDDED_VOICES: readonly ModelVoice[] = (
  [
    ["Maya", "female", "30, American, of medium pitch (205 Hz): friendly and natural", "alloy", "nova"],
    ["Theo", "male", "35, American, of medium pitch (127 Hz): plain and direct", "echo"],
    ["Greta", "female", "50, American, low (160 Hz): composed"],
    ["Milo", "male", "20, American, rather high (137 Hz): light and easy", "ash"],
    ["Pia", "female", "20, American, high (216 Hz): bright", "shimmer"],
    ["Clara", "female", "40, American, rather low (179 Hz): clear and even", "marin"],
    ["Hugo", "male", "40, American, rather deep (112 Hz): calm", "cedar"],
    ["Bruno", "male", "50, American, very deep (87 Hz): slow and steady", "onyx"],
    ["Ines", "female", "35, American, rather low (179 Hz): gentle and slow", "sage"],
    ["Felix", "male", "25, American, of medium pitch (117 Hz): quick and lively", "verse"],
    ["Rupert", "male", "60, American, rather deep (114 Hz): a storyteller, with a wide melody", "fable"],
    ["Zoe", "female", "25, American, rather low (176 Hz): relaxed", "coral"],
    ["Oscar", "male", "55, American, of medium pitch (126 Hz): grave and deliberate", "ballad"],
    ["Paloma", "female", "30, Latin American, rather low (171 Hz): warm and clear"],
    ["Mateo", "male", "40, Latin American, of medium pitch (128 Hz): calm and clear"],
  ] as const
).map(([name, sex, about, ...aliases], index) => ({
  id: `${index}`,
  name,
  sex,
  language: Object.values(EMBEDDED_LANGUAGE_LABELS.es).includes(`${index}`) ? "es" : "en-US",
  description: `A ${sex === "female" ? "woman" : "man"} of about ${about}.`,
  aliases,
}));

/** A recording is followed like the audio of earlier turns; voices cannot be mixed. */
export const EMBEDDED_VOICE_SUPPORT: VoiceSupport = {
  mixes: false,
  samples: true,
  manner: "figures",
  marks: true,
  oneLanguage: true,
};

/** Speakers of every public model. */
export const SPEAKERS: readonly string[] = ["0", "1"];

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
    languageLabels: EMBEDDED_LANGUAGE_LABELS,
  };
  return { card, checkpoint: EMBEDDED_CHECKPOINT, preset, isResident };
}

const DEFAULT_MODEL = "svc-beta-v0.3";

/**
 * The public models: the default, then the others from newest to oldest, then the compact one. All speak with the
 * embedded voice until another checkpoint is configured, and their descriptions say so.
 *
 * Presets: `liveliness` (0 to 1) scales how much delivery varies with the temperature, `acoustics` whether fine
 * acoustic detail does too; `follows` names what is adopted from a voice in earlier turns.
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
 * Returns voices for the speaker labels of a model of unknown voices. OpenAI's female names mean the first, the male
 * ones the second.
 */
export function speakerVoices(): readonly ModelVoice[] {
  return EMBEDDED_VOICES.slice(0, 2).map(({ id, sex }) => ({
    id,
    name: `Speaker ${id}`,
    sex: null,
    language: null,
    description: `The model's voice for the speaker ${id}.`,
    aliases: EMBEDDED_VOICES.filter((voice) => voice.sex === sex)
      .flatMap(({ aliases }) => aliases)
      .sort(),
  }));
}
