import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { sha256OfFile } from "../files/sha256-of-file.ts";
import type { WriterError } from "../model/writer.ts";

/** Makes the error of a file that came with the package: `what` ends "the file …", as in `is missing`. */
type FileFailure = (what: string, cause?: unknown) => WriterError;

/** A file that came with the package. @throws what `failure` makes where it is missing or cannot be read. */
export async function readPackaged(path: string, failure: FileFailure): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw unreadable(cause, failure);
  }
}

/**
 * The SHA-256 of a file that came with the package, in hex.
 *
 * @throws what `failure` makes where it is missing or cannot be read.
 */
export async function packagedSha256(path: string, failure: FileFailure): Promise<string> {
  try {
    return await sha256OfFile(path);
  } catch (cause) {
    throw unreadable(cause, failure);
  }
}

function unreadable(cause: unknown, failure: FileFailure): WriterError {
  const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
  return failure(isMissing ? "is missing" : "cannot be read", cause);
}

/** In hexadecimal digits. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
