import { createHash } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import type { WriterError } from "../model/writer.ts";

/** Makes the error of a file that came with the package: `what` ends "the file …", as in `is missing`. */
export type FileFailure = (what: string, cause?: unknown) => WriterError;

/** A file that came with the package. @throws what `failure` makes where it is missing or cannot be read. */
export async function readPackaged(path: string, failure: FileFailure): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw unreadable(cause, failure);
  }
}

/**
 * The SHA-256 of a file that came with the package, and that others will read: into one small
 * buffer, since what is read whole, or as a stream, stays in memory until it is cleared away. In hexadecimal digits.
 *
 * @throws what `failure` makes where it is missing or cannot be read.
 */
export async function packagedSha256(path: string, failure: FileFailure): Promise<string> {
  const hash = createHash("sha256");
  try {
    const file = await open(path);
    try {
      const piece = Buffer.alloc(PIECE_BYTES);
      for (;;) {
        const { bytesRead } = await file.read(piece, 0, piece.length);
        if (bytesRead === 0) break;
        hash.update(piece.subarray(0, bytesRead));
      }
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw unreadable(cause, failure);
  }
  return hash.digest("hex");
}

function unreadable(cause: unknown, failure: FileFailure): WriterError {
  const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
  return failure(isMissing ? "is missing" : "cannot be read", cause);
}

const PIECE_BYTES = 1 << 18;

/** In hexadecimal digits. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
