import type { ModelVoice } from "../core/model-card.ts";
import type { Settings } from "../settings/schema.ts";
import { wrongSetting } from "../settings/settings-error.ts";
import { findCodecLm, KNOWN_CODEC_LMS } from "./known-hub-models.ts";
import { KOKORO_CHECKPOINT } from "./kokoro-voices.ts";
import { EMBEDDED_CHECKPOINT, PUBLIC_MODELS, type PublicModel, speakerVoices } from "./public-models.ts";

type ModelSettings = Pick<Settings, "models" | "checkpoints">;
type RemoteSettings = NonNullable<Settings["checkpoints"][string]["remote"]>;

/** Facts about a local checkpoint, known once its folder was inspected. */
export type LocalCheckpointInfo = Pick<PublicModel, "reads"> & {
  readonly description: string;
} & Partial<CardVoices>;

type CardVoices = Pick<PublicModel["card"], "voices" | "takes" | "labels" | "languageLabels">;

/**
 * Returns the public models, some of which the settings may give another checkpoint, then the ids that only the
 * settings have.
 *
 * @param localCheckpoints facts about local checkpoints, by name
 * @throws SettingsError if a model names an unknown checkpoint, or a checkpoint is named like the embedded one
 */
export function modelsFromSettings(
  { models, checkpoints }: ModelSettings,
  localCheckpoints: ReadonlyMap<string, LocalCheckpointInfo> = new Map(),
): readonly PublicModel[] {
  if (Object.hasOwn(checkpoints, EMBEDDED_CHECKPOINT)) {
    throw wrongSetting(
      `checkpoints.${EMBEDDED_CHECKPOINT}`,
      "has the name of the embedded voice: give it another",
    );
  }
  const known = new Set(PUBLIC_MODELS.map(({ card }) => card.id));
  const others = Object.keys(models).filter((id) => !known.has(id));
  return [...PUBLIC_MODELS, ...others.map(renamedDefaultModel)].map((model) => {
    const asked = Object.hasOwn(models, model.card.id) ? models[model.card.id] : undefined;
    return asked === undefined ? model : withCheckpoint(model, asked, checkpoints, localCheckpoints);
  });
}

function renamedDefaultModel(id: string): PublicModel {
  const model = PUBLIC_MODELS.find(({ card }) => card.isDefault)!;
  return { ...model, card: { ...model.card, id, displayName: id, isDefault: false }, isResident: false };
}

function withCheckpoint(
  model: PublicModel,
  { checkpoint, displayName, description }: Settings["models"][string],
  checkpoints: Settings["checkpoints"],
  here: ReadonlyMap<string, LocalCheckpointInfo>,
): PublicModel {
  const { card } = model;
  const withNames = (defaultDescription: string, spoken: CardVoices = card): PublicModel["card"] => ({
    ...{ ...card, languageLabels: {} },
    ...spoken,
    displayName: displayName ?? card.displayName,
    description: description ?? defaultDescription,
  });
  if (checkpoint === EMBEDDED_CHECKPOINT) return { ...model, card: withNames(card.description) };
  const given = Object.hasOwn(checkpoints, checkpoint) ? checkpoints[checkpoint] : undefined;
  if (given?.remote !== undefined) {
    // Remote checkpoints need hardly any memory here.
    const spoken = {
      voices: remoteVoices(given.remote),
      takes: remoteVoiceSupport(given.remote),
    };
    return {
      card: withNames(describeRemote(given.remote), spoken),
      checkpoint,
      preset: {},
      isResident: true,
    };
  }
  if (given === undefined && checkpoint !== KOKORO_CHECKPOINT && findCodecLm(checkpoint) === undefined) {
    const pulled = [KOKORO_CHECKPOINT, ...KNOWN_CODEC_LMS.map(({ name }) => name)];
    const names = [...new Set([EMBEDDED_CHECKPOINT, ...pulled, ...Object.keys(checkpoints)])].join(", ");
    throw wrongSetting(
      `models.${card.id}.checkpoint`,
      `is ${JSON.stringify(checkpoint)}, which does not exist: name one of ${names}`,
    );
  }
  const voice = here.get(checkpoint);
  const { voices = speakerVoices(), takes = { mixes: false, samples: false } } = voice ?? {};
  return {
    card: withNames(voice?.description ?? `Spoken by the model “${checkpoint}”, computed here.`, {
      voices,
      takes,
      ...(voice?.labels === undefined ? {} : { labels: voice.labels }),
      ...(voice?.languageLabels === undefined ? {} : { languageLabels: voice.languageLabels }),
    }),
    checkpoint,
    preset: {},
    isResident: given?.resident ?? true,
    ...(voice?.reads === undefined ? {} : { reads: voice.reads }),
  };
}

/** Returns the voices of the speaker labels and those named in the settings, without asking the server. */
function remoteVoices({ voices = {} }: RemoteSettings): readonly ModelVoice[] {
  const labels = speakerVoices();
  const others = Object.keys(voices).filter((name) => !labels.some(({ id }) => id === name));
  // The settings may give an OpenAI name to another voice than a label's.
  const named = new Set(others.map((name) => name.toLowerCase()));
  return [
    ...labels.map((voice) => ({ ...voice, aliases: voice.aliases.filter((alias) => !named.has(alias)) })),
    ...others.map((name) => {
      const description = `The server's voice “${voices[name]}”.`;
      return { id: name, name, sex: null, language: null, description, aliases: [] };
    }),
  ];
}

/** A remote Antiphon takes a recording as an earlier turn, and no manner in a conversation. */
function remoteVoiceSupport({ kind, references }: RemoteSettings): PublicModel["card"]["takes"] {
  if (kind === "antiphon") return { mixes: false, samples: true, anyName: true };
  return { mixes: false, samples: references, anyName: true, manner: "words" };
}

function describeRemote({ kind, model, references }: RemoteSettings): string {
  if (kind === "antiphon") {
    const which = model === undefined ? "its default model" : `its model “${model}”`;
    return (
      `Spoken elsewhere, by another Antiphon: ${which}. It is given the whole conversation and every knob, but for the ` +
      "`speed` of /v1/audio/speech. At temperature 0 bytes repeat only as far as its machines are alike."
    );
  }
  const history = references
    ? "Of earlier turns it is given the speaker's latest clip whose words are known, to clone."
    : "It does not hear earlier turns.";
  return (
    `Spoken elsewhere, by “${model}” behind OpenAI's API for speech. ${history} Of the knobs it takes max_new_tokens ` +
    "alone, and bytes do not repeat, at temperature 0 neither. It reports no word times."
  );
}
