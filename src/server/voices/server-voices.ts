import { createHash } from "node:crypto";
import { nameKeyOf } from "../../accounts/voice-store.ts";
import { ServiceError } from "../../contract/errors.ts";
import { nameProblem } from "../../contract/voice-form.ts";
import type { VoiceSample } from "../../core/script.ts";
import type { PublicModel } from "../../models/public-models.ts";
import { readManner } from "../../serving/prepare/manner.ts";
import { beginningOf, clipOf } from "../../serving/voices/create-voice.ts";
import { modelsNameProblem } from "../../serving/voices/custom-voices.ts";
import type { Settings } from "../../settings/schema.ts";
import { wrongSetting } from "../../settings/settings-error.ts";
import { UsageError } from "../usage-error.ts";
import { readRecording } from "./read-recording.ts";

/**
 * The voices of the setting `voices`, with their recordings read, by their names.
 *
 * @param models whose own voices' names mean those voices
 * @throws SettingsError naming the setting and the remedy
 */
export async function readServerVoices(
  { voices }: Pick<Settings, "voices">,
  models: readonly PublicModel[],
): Promise<ReadonlyMap<string, VoiceSample>> {
  const read = new Map<string, VoiceSample>();
  for (const [name, given] of Object.entries(voices)) {
    const { clip: file, text = "", instructions } = typeof given === "string" ? { clip: given } : given;
    // How a voice of a model's speaks: see `withVoiceManners`.
    if (file === undefined) continue;
    const setting = `voices.${name}`;
    const other = [...read.keys()].find((each) => nameKeyOf(each) === nameKeyOf(name));
    const problem =
      (other === undefined ? null : `has the same name as voices.${other}: rename one of them`) ??
      nameProblem(name) ??
      modelsNameProblem(
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
    const { pcm } = await beginningOf(await readRecording(file, signal), file, signal);
    const bytes = new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength);
    return clipOf(pcm, createHash("sha256").update(bytes).digest("base64"));
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof ServiceError)) throw error;
    throw wrongSetting(setting, `cannot be used. ${error.message.replace(/\.$/, "")}`);
  }
}
