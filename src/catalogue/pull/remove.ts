import { rm, stat } from "node:fs/promises";
import type { CheckpointManifest } from "../checkpoint-manifest.ts";
import { checkpointDir } from "../installed-checkpoint.ts";
import { asDiskError } from "./disk.ts";
import { lockPath, tryLock } from "./lock.ts";
import { PullError } from "./pull-error.ts";
import { DEFAULT_TIMES } from "./times.ts";

/**
 * Removes a checkpoint, and all that a broken pull left of it. False when there was nothing.
 *
 * @throws PullError when it is being installed, or the disk does not let go of it.
 */
export async function removeCheckpoint(
  manifest: Pick<CheckpointManifest, "name">,
  dataDir: string,
): Promise<boolean> {
  const dir = checkpointDir(manifest, dataDir);
  const isThere = await stat(dir).then(
    () => true,
    () => false,
  );
  if (!isThere) return false;
  const done = await tryLock(lockPath(manifest, dataDir), DEFAULT_TIMES, () =>
    rm(dir, { recursive: true, force: true }).catch((error: unknown) => {
      throw asDiskError(error, dir);
    }),
  );
  if (done !== null) return true;
  throw new PullError(
    `The checkpoint ${manifest.name} is being installed by another process: end that first.`,
  );
}
