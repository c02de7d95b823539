import type { CheckpointManifest } from "../catalogue/checkpoint-manifest.ts";
import { DEFAULT_WRITER, findCheckpoint } from "../catalogue/checkpoints.ts";
import { checkpointFile, verifyCheckpoint } from "../catalogue/installed-checkpoint.ts";
import type { PullObserver } from "../catalogue/pull/observer.ts";
import { pullCheckpoint } from "../catalogue/pull/pull.ts";

/** The embedded writer's weights, as far as they could be had. */
export interface WriterWeights {
  /** Absolute path of the GGUF file, which may be missing or damaged. */
  readonly path: string;
  /** One sentence with the remedy; `null` when every byte of the file is right. */
  readonly problem: string | null;
}

/** How a server gets its writer's weights. */
export interface WriterPull {
  readonly dataDir: string;
  /** Whether what is missing or damaged is fetched: the setting `pull`. */
  readonly pull: boolean;
  readonly signal: AbortSignal;
  readonly observe: PullObserver;
  /** The environment; this process's unless given. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Sees to it that the embedded writer's weights are there. Never throws, and so never keeps a server from starting:
 * whatever goes wrong is the `problem`, for the log and for whoever asks for an authored turn.
 */
export async function pullWriter(options: WriterPull): Promise<WriterWeights> {
  let path = "";
  try {
    const manifest = writerManifest();
    path = checkpointFile(manifest, options.dataDir);
    if (!options.pull) {
      const { problem } = await verifyCheckpoint(manifest, options.dataDir, options.signal);
      return { path, problem };
    }
    await pullCheckpoint(manifest, options);
    return { path, problem: null };
  } catch (error) {
    return { path, problem: options.signal.aborted ? INTERRUPTED : messageOf(error) };
  }
}

const INTERRUPTED = "The writer's weights were not fetched, because the server stops.";

function writerManifest(): CheckpointManifest {
  const manifest = findCheckpoint(DEFAULT_WRITER);
  if (manifest === undefined)
    throw new Error(`There is no checkpoints/${DEFAULT_WRITER}.json: install Antiphon anew.`);
  return manifest;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
