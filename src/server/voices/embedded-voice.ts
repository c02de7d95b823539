import type { Lexicon } from "../../core/script.ts";
import type { EmbeddedPrecision } from "../../engines/embedded/network.ts";
import { unusedKnobs } from "../../engines/embedded/preset.ts";
import type { LoadableCheckpoint } from "../../models/checkpoint-cache.ts";
import { embeddedCheckpoint } from "../../models/installed-checkpoint.ts";
import { EMBEDDED_LANGUAGE_LABELS as languageLabels } from "../../models/public-models.ts";
import { loadTextTables } from "../../text/tables/text-tables.ts";
import { createWorkerPool, type PoolEvent, type WorkerPool } from "../../workers/worker-pool.ts";

/**
 * Maximum memory of a thread of the embedded voice: three graphs (dequantised for float32), buffers, and its heap.
 */
const THREAD_BYTES = 128 * 2 ** 20;

export interface VoiceSetup {
  readonly threads: number;
  /** Default: 8 bits. */
  readonly precision?: EmbeddedPrecision;
  /** User lexicon of the server; see `lexicon-file.ts`. */
  readonly words?: Lexicon;
}

/** Maximum heap of a thread, of which speaking uses 20 MB. */
const HEAP_MB = 64;

/** Opens the embedded voice in threads that share one copy of its dictionary. */
export async function openEmbeddedVoice(
  { threads, precision, words = [] }: VoiceSetup,
  onEvent: (event: PoolEvent) => void = () => {},
): Promise<WorkerPool> {
  const voiceDir = embeddedCheckpoint.dir;
  return createWorkerPool({
    entry: new URL("../../engines/embedded/model.js", import.meta.url),
    create: { voiceDir, precision, tables: await loadTextTables(voiceDir), words, languageLabels },
    size: threads,
    resolvesWithFirst: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    onEvent,
  });
}

/** The embedded voice, with its state once loaded. */
export interface EmbeddedCheckpoint extends LoadableCheckpoint {
  /** Whether a thread can speak or is starting. True until loaded. */
  canSpeak(): boolean;
  /** Number of ready threads; 0 until loaded. */
  threads(): number;
  /** Starts the threads early, once, for a following `load()`. */
  begin(): void;
  /** Closes threads that were started and not loaded. */
  abandon(): Promise<void>;
}

export function embeddedVoice(setup: VoiceSetup, onEvent?: (event: PoolEvent) => void): EmbeddedCheckpoint {
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
      begun ??= openEmbeddedVoice(setup, onEvent);
      // The failure is thrown by `load()`.
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
