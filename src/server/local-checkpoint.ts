import type { LocalVoice } from "../catalogue/offered-models.ts";
import type { Checkpoint } from "../catalogue/residency.ts";
import type { WorkerPool } from "../workers/worker-pool.ts";

/** A checkpoint besides the embedded voice that computes here, in threads and slots of its own. */
export interface LocalCheckpoint extends Checkpoint {
  /** What speaks, as `GET /v1/info` calls it. */
  readonly kind: "codec-lm" | "kokoro";
  /** Utterances that it speaks at once. */
  readonly maxConcurrent: number;
  /** What its models' cards say, and what it reads. */
  readonly voice: LocalVoice;
  /** Its threads, once it is loaded and until it is unloaded. */
  pool(): WorkerPool | null;
}
