import type { CheckpointManifest } from "../catalogue/checkpoint-manifest.ts";
import { checkpointFile } from "../catalogue/installed-checkpoint.ts";
import { keepSpeed, knownSpeed, type WriterSpeed } from "../catalogue/writer-speed.ts";
import type { Settings } from "../settings/schema.ts";
import { measureSpeed } from "../writers/llama/measure-speed.ts";
import { checkpointOptions } from "./large-writer.ts";

/**
 * How fast an installed checkpoint writes here: as it was measured before, else as {@link newSpeed} finds.
 *
 * @throws WriterError when it cannot be loaded; the signal's reason.
 */
export async function measuredSpeed(
  manifest: CheckpointManifest,
  settings: Pick<Settings, "dataDir" | "writer">,
  signal: AbortSignal,
): Promise<WriterSpeed> {
  const known = await knownSpeed(manifest, settings.dataDir, settings.writer.threads);
  return known ?? newSpeed(manifest, settings, signal);
}

/** The same by a measurement of about three seconds, which is kept. */
export async function newSpeed(
  manifest: CheckpointManifest,
  { dataDir, writer }: Pick<Settings, "dataDir" | "writer">,
  signal: AbortSignal,
): Promise<WriterSpeed> {
  const options = checkpointOptions(manifest, checkpointFile(manifest, dataDir), writer, () => true);
  return keepSpeed(manifest, dataDir, writer.threads, await measureSpeed(options, signal));
}
