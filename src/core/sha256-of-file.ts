import { createHash, type Hash } from "node:crypto";
import { open } from "node:fs/promises";

/** Returns the SHA-256 of a file in hex. Throws file system errors and the signal's reason. */
export function sha256OfFile(path: string, signal?: AbortSignal): Promise<string> {
  return digestOfFile(path, createHash("sha256"), signal);
}

/** Feeds a file to `hash` and returns its digest in hex. */
export async function digestOfFile(path: string, hash: Hash, signal?: AbortSignal): Promise<string> {
  const file = await open(path);
  try {
    // One reused buffer: whole files or streams would stay in memory until garbage collection.
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
