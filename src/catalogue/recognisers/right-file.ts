import { stat } from "node:fs/promises";
import { type Checksum, newHash, rightDigest } from "../checksum.ts";
import { digestOfFile } from "../installed-checkpoint.ts";

/** Whether a file is there, byte for byte. What cannot be read is as good as not there. Throws the signal's reason. */
export async function isRight(
  path: string,
  file: { readonly sizeBytes: number } & Checksum,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    if ((await stat(path)).size !== file.sizeBytes) return false;
    return (await digestOfFile(path, newHash(file, file.sizeBytes), signal)) === rightDigest(file);
  } catch {
    signal.throwIfAborted();
    return false;
  }
}
