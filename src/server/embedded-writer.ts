import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { CheckpointManifest } from "../catalogue/checkpoint-manifest.ts";
import { checkpointDir, checkpointFile } from "../catalogue/installed-checkpoint.ts";
import { lockPath } from "../catalogue/pull/lock.ts";
import { waitingFor } from "../catalogue/pull/options.ts";
import { messageOf, PullError } from "../catalogue/pull/pull-error.ts";
import type { Writer } from "../model/writer.ts";
import { type GgufWriterOptions, openGgufWriter } from "../writers/llama/gguf-writer.ts";
import { type MergedWeights, mergedWeights } from "./merged-weights.ts";

/** The small model where it is installed, every byte of it right. */
export interface InstalledWriter {
  readonly manifest: CheckpointManifest;
  readonly dataDir: string;
  readonly signal: AbortSignal;
}

/**
 * Opens the small model: from one file with our adapter merged into it, which is made if it is not there; where none
 * can be made, or it is removed before it is open, from the weights as they were fetched, with the adapter beside them.
 * `note` is told what was done, in plain sentences.
 *
 * @throws WriterError when it cannot be loaded; the signal's reason.
 */
export async function openEmbeddedWriter(
  installed: InstalledWriter,
  note: (sentences: string) => void,
  open: (options: GgufWriterOptions) => Promise<Writer> = openGgufWriter,
): Promise<Writer> {
  const { manifest, dataDir } = installed;
  const path = await mergedOrNull(installed, note);
  if (path !== null) {
    try {
      return await open(embeddedWriter(path, null));
    } catch (error) {
      if (existsSync(path)) throw error;
      note(`${path} was removed before it could be loaded. ${MEANWHILE}`);
    }
  }
  return open(embeddedWriter(checkpointFile(manifest, dataDir)));
}

async function mergedOrNull(
  installed: InstalledWriter,
  note: (sentences: string) => void,
): Promise<string | null> {
  try {
    const { path, isNew } = await mergedWriter(installed, note);
    if (isNew) note(`The writer's adapter was merged into its weights, once: ${path}`);
    return path;
  } catch (error) {
    installed.signal.throwIfAborted();
    note(`${whyNotMerged(error)} ${MEANWHILE}`);
    return null;
  }
}

/** A writer that is open stays as it is. */
const MEANWHILE =
  "Meanwhile the adapter is applied while replies are written, which takes longer: " +
  "run antiphon models pull writer, then start the server again.";

/**
 * The small model and our adapter in one file, beside the model's. `note` is told, in a sentence, when another process
 * is waited for.
 *
 * @throws Error, for {@link whyNotMerged}; the signal's reason.
 */
export function mergedWriter(
  { manifest, dataDir, signal }: InstalledWriter,
  note: (sentence: string) => void = () => {},
): Promise<MergedWeights> {
  return mergedWeights({
    base: { path: checkpointFile(manifest, dataDir), sha256: manifest.files[0]!.sha256 },
    adapterPath: EMBEDDED_ADAPTER,
    dir: checkpointDir(manifest, dataDir),
    lock: lockPath(manifest, dataDir),
    signal,
    onWait: () => note(waitingFor(manifest.name)),
  });
}

/** In one or two sentences, with the remedy where there is one. */
export function whyNotMerged(error: unknown): string {
  const why = error instanceof PullError ? messageOf(error) : `It failed: ${messageOf(error)}.`;
  return `The writer's adapter could not be merged into its weights. ${why}`;
}

/** What the model was taught: short spoken replies (training/writer). */
export const EMBEDDED_ADAPTER = fileURLToPath(
  new URL("../../../checkpoints/smollm2-135m.adapter.gguf", import.meta.url),
);

/**
 * How SmolLM2-135M-Instruct is run as the embedded writer. `modelPath` is its GGUF file; the adapter is `null` where it
 * is merged into that.
 */
export function embeddedWriter(
  modelPath: string,
  adapterPath: string | null = EMBEDDED_ADAPTER,
): GgufWriterOptions {
  return {
    name: "smollm2-135m",
    modelPath,
    adapterPath,
    template: "chatml",
    systemPrompt: null,
    examples: () => [],
    // Reading costs about 4 ms a token, and so small a model makes little of what is long ago.
    window: { maxChars: 400, stepChars: 120 },
    contextTokens: 512,
    maxTokens: 64,
    maxSentences: 3,
    // Below it, most of what it adds to a first sentence spoils that.
    minConfidence: -0.75,
    temperatureScale: 0.6,
    sequences: 4,
    // Two threads beside speech are six times slower than one: each waits for the other at every layer.
    threads: 1,
    isQuiet: () => true,
    isBatched: false,
    characterBytes: false,
    freeBytes: null,
  };
}
