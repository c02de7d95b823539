import type { CheckpointSlotOptions } from "../../limits/checkpoint-slots.ts";
import type { SlotPrice } from "../../limits/slot-utterance.ts";
import type { LoadableCheckpoint } from "../../models/checkpoint-cache.ts";
import type { LocalCheckpointInfo } from "../../models/models-from-settings.ts";
import { SPEAKERS } from "../../models/public-models.ts";
import type { CodecLmSettings } from "../../settings/model-settings.ts";
import { wrongSetting } from "../../settings/settings-error.ts";
import type { WorkerPool } from "../../workers/worker-pool.ts";

/** A local checkpoint other than the embedded voice, with its own threads and slots. */
export interface LocalCheckpoint extends LoadableCheckpoint {
  /** Kind, as in `GET /v1/info`. */
  readonly kind: "codec-lm" | "kokoro";
  /** Maximum concurrent utterances. */
  readonly maxConcurrent: number;
  /** Cost of a slot, if known. */
  readonly price?: SlotPrice;
  /** Voices and description for model cards. */
  readonly voice: LocalCheckpointInfo;
  /** Its threads while it is loaded. */
  pool(): WorkerPool | null;
}

/** Starts threads to load a checkpoint, and keeps track of them. */
export function inThreads(start: () => Promise<WorkerPool>): Pick<LocalCheckpoint, "load" | "pool"> {
  let pool: WorkerPool | null = null;
  return {
    async load() {
      const loaded = await start();
      pool = loaded;
      return {
        ...loaded,
        close() {
          if (pool === loaded) pool = null;
          return loaded.close();
        },
      };
    },
    pool: () => pool,
  };
}

/** Returns the delay before it is unloaded. Throws SettingsError if it must also stay loaded. */
export function idleUnloadOf(
  { resident, idleUnloadS = 0 }: Partial<CodecLmSettings>,
  setting: string,
): Pick<LoadableCheckpoint, "idleUnloadMs"> {
  if (idleUnloadS === 0) return {};
  if (resident === false) return { idleUnloadMs: 1_000 * idleUnloadS };
  throw wrongSetting(
    `${setting}.idleUnloadS`,
    `is for what is not resident: set ${setting}.resident to false`,
  );
}

/** Throws SettingsError for an unknown label. */
export function requireSpeaker(label: string, setting: string): void {
  if (SPEAKERS.includes(label)) return;
  const shown = SPEAKERS.map((each) => JSON.stringify(each)).join(" and ");
  throw wrongSetting(
    `${setting}.voices`,
    `names the speaker "${label}": every model's speakers are ${shown}`,
  );
}

/** Returns its slots with its name. */
export function slotsOf({
  name,
  maxConcurrent,
  price,
}: LocalCheckpoint): readonly [name: string, slots: CheckpointSlotOptions] {
  return [name, { slots: maxConcurrent, keepsSlots: true, ...(price === undefined ? {} : { price }) }];
}
