import type { Lexicon } from "../../core/script.ts";
import { KOKORO_CHECKPOINT } from "../../models/kokoro-voices.ts";
import { modelsFromSettings } from "../../models/models-from-settings.ts";
import type { PublicModel } from "../../models/public-models.ts";
import type { Settings } from "../../settings/schema.ts";
import type { PoolEvent } from "../../workers/worker-pool.ts";
import { codecLmCheckpoints } from "./codec-lm-checkpoints.ts";
import { kokoroCheckpoint } from "./kokoro-checkpoint.ts";
import type { LocalCheckpoint } from "./local-checkpoint.ts";
import { withVoiceManners } from "./server-voices.ts";

export interface LocalSources {
  /** Receives the events of a checkpoint's threads. */
  readonly onEvent?: (checkpoint: string, event: PoolEvent) => void;
  /** User lexicon of the server; see `lexicon-file.ts`. */
  readonly words?: Lexicon;
}

/**
 * Returns the local checkpoints other than the embedded voice, and the public models with their descriptions.
 * Validates directories; loads nothing.
 *
 * @throws SettingsError with the setting and the remedy
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
  const models = modelsFromSettings(settings, new Map(local.map(({ name, voice }) => [name, voice])));
  return { local, models: withVoiceManners(models, settings) };
}
