import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { sha256OfFile } from "../core/sha256-of-file.ts";
import type { WriterError } from "../core/writer.ts";

/** Creates an error; `what` completes "the file …", such as `is missing`. */
export type FileFailure = (what: string, cause?: unknown) => WriterError;

/** Reads a file of the package. @throws the error of `failure` if it is missing or unreadable */
export async function readPackaged(path: string, failure: FileFailure): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw unreadable(cause, failure);
  }
}

/** Reads JSON of the package. @throws the error of `failure` also if it is invalid */
export async function readPackagedJson<T>(
  path: string,
  failure: FileFailure,
  isWhole: (value: T) => boolean,
): Promise<T> {
  const bytes = await readPackaged(path, failure);
  let cause: unknown;
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes)) as T;
    if (isWhole(value)) return value;
  } catch (error) {
    cause = error;
  }
  throw failure("is damaged", cause);
}

/** Verifies a SHA-256 in hexadecimal. @throws the error of `failure` also if it differs */
export async function checkPackaged(path: string, expected: string, failure: FileFailure): Promise<void> {
  const found = await sha256OfFile(path).catch((cause: unknown) => {
    throw unreadable(cause, failure);
  });
  if (found !== expected) throw failure("is damaged");
}

function unreadable(cause: unknown, failure: FileFailure): WriterError {
  const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
  return failure(isMissing ? "is missing" : "cannot be read", cause);
}

/** Returns the digest in hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
