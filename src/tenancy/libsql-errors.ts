import { StoreError, type StoreProblem } from "./store-error.ts";

/** Puts what the database or the file system reported into one sentence with the remedy. */
export function asStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  const { message, code } = described(error);
  const problem = problemOf(code, message);
  return new StoreError(
    problem,
    SENTENCES[problem](path, code === "" ? message : `${code}: ${message}`),
    error,
  );
}

/** A database that `quick_check` found fault with. */
export function damaged(path: string, finding: string): StoreError {
  return new StoreError("damaged", SENTENCES.damaged(path, finding));
}

/** A database of a later version of Antiphon. */
export function newer(path: string, version: number, known: number): StoreError {
  return new StoreError("newer", SENTENCES.newer(path, `version ${version}, known are up to ${known}`));
}

const SENTENCES: Readonly<Record<StoreProblem, (path: string, detail: string) => string>> = {
  damaged: (path, detail) =>
    `The database ${path} is damaged (${detail}): restore it from a backup, or move it away to begin without keys and usage.`,
  unwritable: (path, detail) =>
    `The database ${path} cannot be opened for writing (${detail}): give the server write access to its folder, or name another with --data-dir.`,
  disk: (path, detail) =>
    `The disk of the database ${path} is full or failing (${detail}): free some space, or check the disk.`,
  busy: (path, detail) =>
    `The database ${path} was held by another process for too long (${detail}): try again, or stop what holds it.`,
  newer: (path, detail) =>
    `The database ${path} was written by a later Antiphon (${detail}): upgrade, or name another data directory with --data-dir.`,
  closed: (path) => `The database ${path} is closed: open it again.`,
  failed: (path, detail) => `The database ${path} failed (${detail}): nothing was changed.`,
};

/** SQLite's primary result codes, and the file system's. */
const PROBLEMS: Readonly<Record<string, StoreProblem>> = {
  SQLITE_CORRUPT: "damaged",
  SQLITE_NOTADB: "damaged",
  SQLITE_READONLY: "unwritable",
  SQLITE_CANTOPEN: "unwritable",
  SQLITE_PERM: "unwritable",
  SQLITE_IOERR: "disk",
  SQLITE_FULL: "disk",
  SQLITE_BUSY: "busy",
  SQLITE_LOCKED: "busy",
  ENOSPC: "disk",
  EDQUOT: "disk",
  EIO: "disk",
  EACCES: "unwritable",
  EPERM: "unwritable",
  EROFS: "unwritable",
  EEXIST: "unwritable",
  ENOTDIR: "unwritable",
  ENOENT: "unwritable",
};

function problemOf(code: string, message: string): StoreProblem {
  // The binding reports a failed open as text alone, ending in SQLite's code.
  if (message.includes("Unable to open")) return "unwritable";
  const primary = code.split("_").slice(0, 2).join("_");
  return PROBLEMS[code] ?? PROBLEMS[primary] ?? "failed";
}

function described(error: unknown): { readonly message: string; readonly code: string } {
  if (!(error instanceof Error)) return { message: String(error), code: "" };
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return { message: error.message, code };
}
