import type { Lexicon } from "../../core/script.ts";
import type { Precision } from "../../engines/embedded/network.ts";
import { unusedKnobs } from "../../engines/embedded/preset.ts";
import { embeddedCheckpoint } from "../../models/installed-checkpoint.ts";
import type { Checkpoint } from "../../models/residency.ts";
import { loadTextTables } from "../../text/tables/tables.ts";
import { createWorkerPool, type PoolEvent, type WorkerPool } from "../../workers/worker-pool.ts";

/** Most that one thread of the embedded voice takes: its three graphs (unfolded where they compute in float32), what they compute with, and its heap. */
const THREAD_BYTES = 128 * 2 ** 20;

/** What the settings say of the embedded voice. */
export interface VoiceSetup {
  readonly threads: number;
  /** In what it computes; 8 bits unless given. */
  readonly precision?: Precision;
  /** Words of the server; see `lexicon-file.ts`. */
  readonly words?: Lexicon;
}

/** Of each thread's own heap, of which a speaking one uses 20 MB. */
const HEAP_MB = 64;

/** Opens the voice of the repository in its threads, over one shared copy of its dictionary. */
export async function openEmbeddedVoice(
  { threads, precision, words = [] }: VoiceSetup,
  onEvent: (event: PoolEvent) => void = () => {},
): Promise<WorkerPool> {
  const voiceDir = embeddedCheckpoint.dir;
  return createWorkerPool({
    entry: new URL("../../engines/embedded/model.js", import.meta.url),
    create: { voiceDir, precision, tables: await loadTextTables(voiceDir), words },
    size: threads,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    onEvent,
  });
}

/** The embedded voice as something that a catalogue can load, and what is to be told of it once it is. */
export interface EmbeddedVoice extends Checkpoint {
  /** Whether a thread can speak, or is about to: not when all of them hang or cannot be started. True until loaded. */
  canSpeak(): boolean;
  /** Threads that answer; none before it is loaded. */
  threads(): number;
  /** Starts its threads for who loads it soon, so that they are made while something else is. */
  begin(): void;
  /** Ends what was begun and not loaded. */
  abandon(): Promise<void>;
}

export function embeddedVoice(setup: VoiceSetup, onEvent?: (event: PoolEvent) => void): EmbeddedVoice {
  let pool: WorkerPool | null = null;
  let begun: Promise<WorkerPool> | null = null;
  return {
    name: embeddedCheckpoint.name,
    memoryBytes: setup.threads * THREAD_BYTES,
    async load() {
      const opening = begun ?? openEmbeddedVoice(setup, onEvent);
      begun = null;
      pool = await opening;
      return pool;
    },
    begin() {
      begun = openEmbeddedVoice(setup, onEvent);
      // Who loads it is told.
      begun.catch(() => {});
    },
    async abandon() {
      const opened = await begun?.catch(() => null);
      begun = null;
      await opened?.close();
    },
    unusedKnobs,
    canSpeak() {
      if (pool === null) return true;
      const { hung, broken, size } = pool.stats();
      return hung + broken < size;
    },
    threads: () => pool?.stats().ready ?? 0,
  };
}
