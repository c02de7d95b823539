import type { Lexicon } from "../../core/script.ts";
import { KOKORO_CHECKPOINT } from "../../models/kokoro-cast.ts";
import { offeredModels } from "../../models/offered-models.ts";
import type { PublicModel } from "../../models/public-models.ts";
import type { Settings } from "../../settings/schema.ts";
import type { PoolEvent } from "../../workers/worker-pool.ts";
import { codecLmCheckpoints } from "./codec-lm-checkpoints.ts";
import { kokoroCheckpoint } from "./kokoro-checkpoint.ts";
import type { LocalCheckpoint } from "./local-checkpoint.ts";
import { withVoiceManners } from "./server-voices.ts";

/** What a server needs of the checkpoints that compute here; who only asks what there is needs none of it. */
export interface LocalSources {
  /** What becomes of a checkpoint's threads. */
  readonly onEvent?: (checkpoint: string, event: PoolEvent) => void;
  /** Words of the server; see `lexicon-file.ts`. */
  readonly words?: Lexicon;
}

/**
 * All that computes here besides the embedded voice, and the public models with what that says of itself. Folders are
 * looked over; nothing is loaded.
 *
 * @throws SettingsError naming the setting and the remedy
 */
export async function localModels(
  settings: Settings,
  { onEvent, words }: LocalSources = {},
): Promise<{ readonly local: readonly LocalCheckpoint[]; readonly models: readonly PublicModel[] }> {
  const kokoro = await kokoroCheckpoint(settings, {
    ...(words === undefined ? {} : { words }),
    ...(onEvent === undefined ? {} : { onEvent: (event) => onEvent(KOKORO_CHECKPOINT, event) }),
  });
  const codecLms = await codecLmCheckpoints(settings, onEvent === undefined ? {} : { onEvent });
  const local = [...codecLms, ...(kokoro === null ? [] : [kokoro])];
  const models = offeredModels(settings, new Map(local.map(({ name, voice }) => [name, voice])));
  return { local, models: withVoiceManners(models, settings) };
}
