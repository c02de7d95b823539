import type { CheckpointManifest } from "../catalogue/checkpoint-manifest.ts";
import { checkpointFile } from "../catalogue/installed-checkpoint.ts";
import { keepSpeed, knownSpeed, type WriterSpeed } from "../catalogue/writer-speed.ts";
import type { Settings } from "../settings/schema.ts";
import { measureSpeed } from "../writers/llama/measure-speed.ts";
import { checkpointOptions } from "./checkpoint-options.ts";

/**
 * How fast an installed checkpoint writes here: as it was measured before, or by a measurement of about three seconds.
 *
 * @throws WriterError when it cannot be loaded; the signal's reason.
 */
export async function measuredSpeed(
  manifest: CheckpointManifest,
  { dataDir, writer }: Pick<Settings, "dataDir" | "writer">,
  signal: AbortSignal,
): Promise<WriterSpeed> {
  const known = await knownSpeed(manifest, dataDir, writer.threads);
  if (known !== null) return known;
  const options = checkpointOptions(manifest, checkpointFile(manifest, dataDir), writer, () => true);
  return keepSpeed(manifest, dataDir, writer.threads, await measureSpeed(options, signal));
}
