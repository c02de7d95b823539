import { nameKeyOf, type VoiceRecord } from "../../accounts/store.ts";
import { fieldError, quoted } from "../../contract/errors.ts";
import type * as wire from "../../contract/replies.ts";
import type { CreatedVoice } from "../../contract/voice-form.ts";
import type { Voice, VoiceList } from "../../contract/voices.ts";
import { languageCodeFrom } from "../../core/languages.ts";
import type { ModelCard, ModelVoice } from "../../core/model-card.ts";
import type { VoiceSample } from "../../core/script.ts";
import type { PublicModel } from "../../models/public-models.ts";
import { isWithin } from "../prepare/choose-language.ts";
import { findModelVoice, isRemoteVoiceName } from "../prepare/choose-voice.ts";

/**
 * Lists all voices: those of the models, the default one's first, each once for all models that have it; then those
 * of the settings and of a key.
 */
export function listVoices(
  cards: readonly ModelCard[],
  serverVoices: ReadonlyMap<string, VoiceSample>,
  own: readonly VoiceRecord[],
): VoiceList {
  const inOrder = [...cards].sort((a, b) => Number(b.isDefault) - Number(a.isDefault));
  const models = inOrder.filter(({ takes }) => takes.samples).map(({ id }) => id);
  const recorded = [
    ...[...serverVoices].map(([name, { clip }]) => serverVoice(name, clip.durationS, models)),
    ...own.map((record) => ownVoice(record, models)),
  ];
  const usual = inOrder[0];
  const menu = usual === undefined ? [] : menuOf(usual);
  const alsoThere = usual?.takes.samples === true ? recorded.map(({ id, name }) => ({ id, name })) : [];
  return { data: [...castOf(inOrder), ...recorded], voices: [...menu, ...alsoThere] };
}

/**
 * Keeps the voices that speak a language. Throws a 400 `ServiceError` for an unknown one.
 *
 * @param asked a tag such as `es`, or an English name; absent or empty: all
 */
export function voicesInLanguage(list: VoiceList, asked: string | null): VoiceList {
  if (asked === null || asked.trim() === "") return list;
  const code = languageCodeFrom(asked);
  if (code === null) {
    const tags = [...new Set(list.data.flatMap(({ language }) => language ?? []))];
    throw fieldError(
      "language",
      `${quoted(asked)} is unknown: send a language tag, such as ${tags.join(", ")}`,
    );
  }
  const range = asked.includes("-") ? asked.trim() : code;
  const data = list.data.filter(({ language }) => language !== null && isWithin(language, range));
  const names = new Set(data.flatMap(({ id, aliases }) => [id, ...aliases]));
  return { data, voices: list.voices.filter(({ id }) => names.has(id)) };
}

export function describeCustomVoice(voice: VoiceRecord): CreatedVoice {
  return {
    id: voice.voiceId,
    object: "audio.voice",
    type: "audio_sample",
    name: voice.name,
    description: voice.description,
    created_at: Math.floor(voice.createdTsS),
    consent: voice.consent,
    ref_text: voice.refText,
    seconds: voice.durationS,
    trust: voice.trust,
    cautions: [...voice.cautions],
  };
}

function castOf(cards: readonly ModelCard[]): Voice[] {
  const byVoice = new Map<string, { readonly voice: ModelVoice; readonly speakWithIt: ModelCard[] }>();
  for (const card of cards) {
    for (const voice of card.voices) {
      const key = JSON.stringify(voice);
      const known = byVoice.get(key);
      if (known === undefined) byVoice.set(key, { voice, speakWithIt: [card] });
      else known.speakWithIt.push(card);
    }
  }
  return [...byVoice.values()].map(({ voice, speakWithIt }) => {
    const models = speakWithIt.map(({ id }) => id);
    return {
      ...voice,
      accent: voice.language,
      aliases: [...voice.aliases],
      models,
      mixes: speakWithIt.filter(({ takes }) => takes.mixes).map(({ id }) => id),
      owner: "model",
      ...sampleOf(voice.id, models),
    };
  });
}

/** Lists a model's voices by all of their names. */
function menuOf({ voices }: ModelCard): VoiceList["voices"] {
  const aliases = voices.flatMap((voice) =>
    voice.aliases.map((alias) => ({ id: alias, name: `${alias.charAt(0).toUpperCase()}${alias.slice(1)}` })),
  );
  return [...voices.map(({ id, name }) => ({ id, name })), ...aliases];
}

const UNKNOWN = { aliases: [], sex: null, language: null, accent: null, mixes: [] };

function serverVoice(name: string, seconds: number, models: string[]): Voice {
  const description = "By a recording that this server has.";
  return {
    id: name,
    name,
    description,
    ...UNKNOWN,
    models,
    owner: "server",
    seconds,
    ...sampleOf(name, models),
  };
}

function ownVoice(record: VoiceRecord, models: string[]): Voice {
  const { voiceId: id, name, description, createdTsS, durationS: seconds, trust, cautions } = record;
  const created_at = Math.floor(createdTsS);
  const measured = { created_at, seconds, trust, cautions: [...cautions] };
  return { id, name, description, ...UNKNOWN, models, owner: "key", ...measured, ...sampleOf(id, models) };
}

/** Returns the path of the voice's sample, by the first model that speaks with it. */
function sampleOf(id: string, [model]: readonly string[]): Pick<Voice, "sample"> {
  if (model === undefined) return {};
  const query = new URLSearchParams({ model });
  return { sample: `/v1/audio/voices/${encodeURIComponent(id)}/sample?${query}` };
}

/** Voices that only a remote system knows, by the ids of the public models that speak with them. */
export type RemoteVoices = ReadonlyMap<string, readonly ModelVoice[]>;

/**
 * Fetches the voices of remote checkpoints.
 *
 * @param byCheckpoint fetches those of one; never rejects, and takes no longer than a list is worth
 */
export async function fetchRemoteVoices(
  models: readonly PublicModel[],
  byCheckpoint: ReadonlyMap<string, () => Promise<readonly ModelVoice[]>>,
): Promise<RemoteVoices> {
  const asked = models.map(async ({ card, checkpoint }) => {
    const voices = await byCheckpoint.get(checkpoint)?.();
    return [card.id, voices ?? []] as const;
  });
  return new Map(await Promise.all(asked));
}

/**
 * Returns the cards with the remote voices that a request can name, unless the name means something else here.
 *
 * @param recorded the names of recordings, which take precedence if a model follows one
 */
export function withRemoteVoices(
  cards: readonly ModelCard[],
  there: RemoteVoices,
  recorded: readonly string[],
): readonly ModelCard[] {
  const taken = new Set(recorded.map(nameKeyOf));
  return cards.map((card) => {
    const isReached = ({ id }: ModelVoice): boolean =>
      isSayable(id) &&
      isRemoteVoiceName(id, card) &&
      findModelVoice(id, card) === null &&
      !(card.takes.samples && taken.has(nameKeyOf(id)));
    const more = (there.get(card.id) ?? []).filter(isReached);
    return more.length === 0 ? card : { ...card, voices: [...card.voices, ...more] };
  });
}

/** Whether a `voice` can be that name: not one that is read as a mix, and no invisible characters. */
function isSayable(id: string): boolean {
  return id === id.trim() && id.isWellFormed() && !/[+()\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(id);
}

/** Date when these models were first offered: 21 November 2026, in Unix time. OpenAI's clients need such a number. */
const CREATED_S = 1_795_219_200;

/** Formats a public model for `GET /v1/models`. */
export function wireCard(card: ModelCard): wire.ModelEntry {
  return {
    id: card.id,
    display_name: card.displayName,
    modes: [...card.modes],
    speakers: [...card.speakers],
    default: card.isDefault,
    description: card.description,
    object: "model",
    created: CREATED_S,
    owned_by: "antiphon",
  };
}
