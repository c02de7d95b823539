import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/**
 * Reads a file listed in its folder's `SHA256SUMS` (format of `sha256sum`).
 *
 * @throws Error naming the file when it is missing, not listed or changed
 */
export async function readVerifiedFile(path: string): Promise<Uint8Array> {
  const [bytes, sums] = await Promise.all([
    readRegularFile(path),
    readRegularFile(join(dirname(path), "SHA256SUMS")),
  ]);
  const wanted = digestOf(basename(path), new TextDecoder().decode(sums));
  if (wanted === null)
    throw new Error(`${path} is not listed in the SHA256SUMS of its directory: install it again.`);
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== wanted) {
    throw new Error(`${path} is damaged (its SHA-256 is not the one in SHA256SUMS): install it again.`);
  }
  return bytes;
}

async function readRegularFile(path: string): Promise<Uint8Array> {
  try {
    const found = await stat(path);
    // Reading a pipe would block until something is written to it.
    if (!found.isFile() || found.size > MAX_BYTES)
      throw new Error(`It is no file of at most ${MAX_BYTES} bytes.`);
    return await readFile(path);
  } catch (cause) {
    const missing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    throw new Error(`${path} ${missing ? "is missing" : "cannot be read"}: install it again.`, { cause });
  }
}

/** More than twice the size of any listed file: larger ones are rejected unread. */
const MAX_BYTES = 64 * 2 ** 20;

function digestOf(name: string, sums: string): string | null {
  for (const line of sums.split("\n")) {
    const [, digest, listed] = /^([0-9a-f]{64}) [ *](.+?)\s*$/.exec(line) ?? [];
    if (listed === name && digest !== undefined) return digest;
  }
  return null;
}
