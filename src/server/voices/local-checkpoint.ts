import type { OwnSlots } from "../../limits/checkpoint-slots.ts";
import type { SlotPrice } from "../../limits/utterance-slots.ts";
import type { LocalVoice } from "../../models/offered-models.ts";
import { SPEAKERS } from "../../models/public-models.ts";
import type { Checkpoint } from "../../models/residency.ts";
import type { CodecLmSettings } from "../../settings/model-settings.ts";
import { wrongSetting } from "../../settings/settings-error.ts";
import type { WorkerPool } from "../../workers/worker-pool.ts";

/** A checkpoint besides the embedded voice that computes here, in threads and slots of its own. */
export interface LocalCheckpoint extends Checkpoint {
  /** What speaks, as `GET /v1/info` calls it. */
  readonly kind: "codec-lm" | "kokoro";
  /** Utterances that it speaks at once. */
  readonly maxConcurrent: number;
  /** What a slot costs, where that is known. */
  readonly price?: SlotPrice;
  /** What its models' cards say, and what it reads. */
  readonly voice: LocalVoice;
  /** Its threads, once it is loaded and until it is unloaded. */
  pool(): WorkerPool | null;
}

/** Loads a checkpoint by starting its threads, and knows them while they are there. */
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

/** After how long it is unloaded. @throws SettingsError where it is to stay loaded as well */
export function idleUnloadOf(
  { resident, idleUnloadS = 0 }: Partial<CodecLmSettings>,
  setting: string,
): Pick<Checkpoint, "idleUnloadMs"> {
  if (idleUnloadS === 0) return {};
  if (resident === false) return { idleUnloadMs: 1_000 * idleUnloadS };
  throw wrongSetting(
    `${setting}.idleUnloadS`,
    `is for what is not resident: set ${setting}.resident to false`,
  );
}

/** @throws SettingsError for a label that no speaker has */
export function requireSpeaker(label: string, setting: string): void {
  if (SPEAKERS.includes(label)) return;
  const shown = SPEAKERS.map((each) => JSON.stringify(each)).join(" and ");
  throw wrongSetting(
    `${setting}.voices`,
    `names the speaker "${label}": every model's speakers are ${shown}`,
  );
}

/** The slots of what computes here, by its name. */
export function slotsOf({
  name,
  maxConcurrent,
  price,
}: LocalCheckpoint): readonly [name: string, slots: OwnSlots] {
  return [name, { slots: maxConcurrent, keepsSlots: true, ...(price === undefined ? {} : { price }) }];
}
