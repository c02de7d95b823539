import { nameKeyOf, type VoiceRecord } from "../accounts/store.ts";
import type { Clip } from "../core/conversation.ts";
import type { ChosenVoice } from "../core/script.ts";
import type { PublicModel } from "../models/public-models.ts";
import { UsageError } from "../server/errors.ts";
import type { CustomVoiceRef } from "../serving/prepare/choose-voice.ts";
import type { Settings } from "../settings/schema.ts";
import type { CommandIo } from "./terminal/command-io.ts";

/** Returns the public models with their voices, as a server with these settings has them. */
export async function localPublicModels(settings: Settings): Promise<readonly PublicModel[]> {
  const { localModels } = await import("../server/voices/local-models.ts");
  return (await localModels(settings)).models;
}

/**
 * Finds a voice by id or name among those of all keys; `null` if there is none.
 *
 * @throws UsageError if several keys have one of that name
 */
export function findVoice(asked: string, voices: readonly VoiceRecord[]): VoiceRecord | null {
  const byId = voices.find(({ voiceId }) => voiceId === asked);
  if (byId !== undefined) return byId;
  const named = voices.filter(({ name }) => nameKeyOf(name) === nameKeyOf(asked));
  if (named.length <= 1) return named[0] ?? null;
  const ids = named.map(({ voiceId, keyId }) => `${voiceId} of ${keyId}`).join(", ");
  throw new UsageError(`Several keys have a voice ${JSON.stringify(asked)}: name one by its id, ${ids}.`);
}

/**
 * Returns the voice of a recording, from the settings or from any key.
 *
 * @throws UsageError if there is none of that name, or several
 */
export async function storedVoice(
  asked: CustomVoiceRef,
  model: PublicModel,
  models: readonly PublicModel[],
  settings: Settings,
  io: CommandIo,
): Promise<ChosenVoice> {
  const { readServerVoices } = await import("../server/voices/server-voices.ts");
  const { unknownVoice } = await import("../serving/prepare/choose-voice.ts");
  const { findRecording } = await import("../serving/voices/custom-voices.ts");
  const { withTenancy } = await import("./keys.ts");
  const serverVoices = await readServerVoices(settings, models);
  const sample = await findRecording(asked.name, serverVoices, () =>
    withTenancy(settings, io, async (tenancy) => {
      const all = await tenancy.voices.listVoices();
      const voice = findVoice(asked.name, all);
      const audio = voice === null ? null : await tenancy.voices.voiceAudio(voice.voiceId);
      if (voice === null || audio === null) {
        const names = [...serverVoices.keys(), ...all.map(({ name }) => name)];
        throw new UsageError(`This cannot be said: ${unknownVoice(asked, model.card, names).message}.`);
      }
      return { clip: await decodeClip(audio, voice.voiceId), text: voice.refText };
    }),
  );
  return [{ weight: 1, sample }];
}

async function decodeClip(audio: Uint8Array, voiceId: string): Promise<Clip> {
  const { openSound } = await import("../audio/recordings/recording-sound.ts");
  const { SAMPLE_S } = await import("../contract/voice-form.ts");
  const { readStoredClip } = await import("../serving/voices/create-voice.ts");
  const sound = openSound(audio, SAMPLE_S.max + 1);
  const clip = await readStoredClip(sound, voiceId, new AbortController().signal);
  await sound.close();
  return clip;
}
