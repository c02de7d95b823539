import { createHash } from "node:crypto";
import { nameKeyOf, type VoiceRecord } from "../../accounts/store.ts";
import { ServiceError } from "../../contract/errors.ts";
import { nameProblem } from "../../contract/voice-form.ts";
import type { RequestedManner, VoiceSample } from "../../core/script.ts";
import type { PublicModel } from "../../models/public-models.ts";
import { findModelVoice } from "../../serving/prepare/choose-voice.ts";
import { mannerHeader, readManner } from "../../serving/prepare/read-manner.ts";
import { clipFromPcm, readBeginning } from "../../serving/voices/create-voice.ts";
import { modelVoiceNameProblem } from "../../serving/voices/custom-voices.ts";
import type { Settings } from "../../settings/schema.ts";
import { wrongSetting } from "../../settings/settings-error.ts";
import { UsageError } from "../errors.ts";
import { readRecording } from "./read-recording.ts";

/**
 * Returns the recorded voices of the setting `voices`, by name.
 *
 * @param models models whose own voices have reserved names
 * @throws SettingsError with the setting and the remedy
 */
export async function readServerVoices(
  { voices }: Pick<Settings, "voices">,
  models: readonly PublicModel[],
): Promise<ReadonlyMap<string, VoiceSample>> {
  const read = new Map<string, VoiceSample>();
  for (const [name, given] of Object.entries(voices)) {
    const { clip: file, text = "", instructions } = typeof given === "string" ? { clip: given } : given;
    // Entries without a file change a model's own voice: see `withVoiceManners`.
    if (file === undefined) continue;
    const setting = `voices.${name}`;
    const other = [...read.keys()].find((each) => nameKeyOf(each) === nameKeyOf(name));
    const problem =
      (other === undefined ? null : `has the same name as voices.${other}: rename one of them`) ??
      nameProblem(name) ??
      modelVoiceNameProblem(
        name,
        models.map(({ card }) => card),
      );
    if (problem !== null) throw wrongSetting(setting, problem);
    const manner = readManner(instructions)?.asked;
    read.set(name, {
      clip: await clipIn(file, setting),
      text: text.trim() === "" ? null : text,
      ...(manner === undefined ? {} : { manner }),
    });
  }
  return read;
}

async function clipIn(file: string, setting: string): Promise<VoiceSample["clip"]> {
  const { signal } = new AbortController();
  try {
    const { pcm } = await readBeginning(await readRecording(file, signal), file, signal);
    const bytes = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
    return clipFromPcm(pcm, createHash("sha256").update(bytes).digest("base64"));
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof ServiceError)) throw error;
    throw wrongSetting(setting, `cannot be used. ${error.message.replace(/\.$/, "")}`);
  }
}

type Given = Pick<Settings, "voices">;
type VoiceSetting = Settings["voices"][string];

/** Returns sentences about entries of the setting `voices` that have no effect with these models. */
export function voiceWarnings(models: readonly PublicModel[], { voices }: Given): string[] {
  return Object.entries(voices).flatMap(([name, given]) => {
    const speakWithIt = models.filter(({ card }) =>
      typeof given === "string" || given.clip !== undefined
        ? card.takes.samples
        : findModelVoice(name, card) !== null,
    );
    if (speakWithIt.length === 0) {
      return [
        `No model speaks with voices.${name}, because none of them follows a recording: remove it, or have a model spoken by one that does (docs/voices.md).`,
      ];
    }
    const warning = mannerWarning(given, speakWithIt);
    return warning === null ? [] : [`The instructions of voices.${name} ${warning}`];
  });
}

/** Returns a sentence about keys' recordings whose names have come to mean a model's voice; `null` without one. */
export function takenNamesWarning(
  models: readonly PublicModel[],
  recordings: readonly VoiceRecord[],
): string | null {
  const taken = recordings.filter(({ name }) =>
    models.some(({ card }) => findModelVoice(name, card) !== null),
  );
  if (taken.length === 0) return null;
  const ids = taken.slice(0, MAX_NAMED).map(({ voiceId, keyId }) => `${voiceId} of ${keyId}`);
  const more = taken.length > MAX_NAMED ? ` and ${taken.length - MAX_NAMED} more` : "";
  return `A model now has voices of the same names as these recordings, which requests must name by id: ${ids.join(", ")}${more} (antiphon voices list shows their names).`;
}

/** Recordings that a warning names. */
const MAX_NAMED = 20;

/**
 * Returns what is not followed of an entry's instructions; `null` if everything is, or a model takes them as they
 * are.
 */
function mannerWarning(given: VoiceSetting, speakWithIt: readonly PublicModel[]): string | null {
  const read = typeof given === "string" ? null : readManner(given.instructions);
  const taken = new Set(speakWithIt.map(({ card }) => card.takes.manner));
  if (read === null || taken.has("words")) return null;
  if (!taken.has("figures"))
    return "change nothing, because no model that speaks with it follows instructions: leave them out.";
  if (read.unfollowed.length === 0) return null;
  if (read.followed.length > 0) {
    return `are followed in part: ${mannerHeader(read, "figures")}. docs/voices.md lists what is understood.`;
  }
  const left = read.unfollowed.join(", ");
  return `change nothing, because nothing in them is understood: ${left}. docs/voices.md lists what is.`;
}

/**
 * Returns the models with the manners of the entries in `voices` that have no recording.
 *
 * @throws SettingsError for an unknown voice, an empty entry, and two entries for one voice
 */
export function withVoiceManners(models: readonly PublicModel[], { voices }: Given): readonly PublicModel[] {
  const alone = Object.entries(voices).flatMap(([name, given]) => {
    if (typeof given === "string" || given.clip !== undefined) return [];
    const read = readManner(given.instructions);
    if (read !== null) return [{ name, manner: read.asked }];
    throw wrongSetting(`voices.${name}`, "has neither clip nor instructions: give it one of them");
  });
  const stranger = alone.find(({ name }) => models.every(({ card }) => findModelVoice(name, card) === null));
  if (stranger !== undefined) {
    throw wrongSetting(
      `voices.${stranger.name}`,
      "is no voice of a model: give it a clip, or name one that there is",
    );
  }
  return models.map((model) => {
    const manners = mannersOf(model, alone);
    return manners.size === 0 ? model : { ...model, manners };
  });
}

interface NamedManner {
  readonly name: string;
  readonly manner: RequestedManner;
}

/** Returns the manners of a model's voices, by voice id. */
function mannersOf({ card }: PublicModel, alone: readonly NamedManner[]): Map<string, RequestedManner> {
  const saidBy = new Map<string, NamedManner>();
  for (const each of alone) {
    const voice = findModelVoice(each.name, card);
    if (voice === null) continue;
    const other = saidBy.get(voice.id);
    if (other !== undefined) {
      throw wrongSetting(
        `voices.${each.name}`,
        `means the same voice of the model ${card.id} as voices.${other.name}: keep one of them`,
      );
    }
    saidBy.set(voice.id, each);
  }
  return new Map([...saidBy].map(([id, { manner }]) => [id, manner]));
}
