import { createHash, type Hash } from "node:crypto";
import { open } from "node:fs/promises";

/**
 * The SHA-256 of a file, in hex.
 *
 * @throws what the file system does; the signal's reason.
 */
export function sha256OfFile(path: string, signal?: AbortSignal): Promise<string> {
  return digestOfFile(path, createHash("sha256"), signal);
}

/** The same of any hash, which is used up by it. */
export async function digestOfFile(path: string, hash: Hash, signal?: AbortSignal): Promise<string> {
  const file = await open(path);
  try {
    // One for all of it: what is read whole, or as a stream, stays in memory until it is cleared away.
    const piece = Buffer.alloc(PIECE_BYTES);
    for (;;) {
      signal?.throwIfAborted();
      const { bytesRead } = await file.read(piece, 0, piece.length);
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(piece.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

const PIECE_BYTES = 1 << 18;
