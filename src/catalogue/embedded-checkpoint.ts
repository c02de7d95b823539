import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EMBEDDED_CHECKPOINT } from "./public-models.ts";

/** A checkpoint's folder on disk, and what may be done with it. */
export interface InstalledCheckpoint {
  readonly name: string;
  /** Absolute path of its folder. */
  readonly dir: string;
  /** SPDX identifier of its licence. */
  readonly licence: string;
}

/** The neural voice that comes with the package, where it lies beside the compiled program. */
export const embeddedCheckpoint: InstalledCheckpoint = {
  name: EMBEDDED_CHECKPOINT,
  dir: fileURLToPath(new URL("../../../voices/heart", import.meta.url)),
  licence: "Apache-2.0",
};

/** Bytes of all files in the folder and below, or `null` when there is no such folder. */
export async function sizeOnDisk(dir: string): Promise<number | null> {
  try {
    const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    );
    const sizes = await Promise.all(
      files.map(async (file) => (await stat(join(file.parentPath, file.name))).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
