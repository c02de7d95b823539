import { StoreError, type StoreProblem } from "../store.ts";

/** Turns an error of the database or the file system into one sentence with the remedy. */
export function asStoreError(error: unknown, path: string): StoreError {
  if (error instanceof StoreError) return error;
  const report = reported(error);
  const { message, code } = report;
  const problem = problemOf(report);
  const detail = message.includes(code) ? message : `${code}: ${message}`;
  return new StoreError(problem, SENTENCES[problem](path, detail), error);
}

/** Returns the error for a database thread that did not answer. */
export function unavailableError(path: string, reason: string, cause: unknown): StoreError {
  return new StoreError("unavailable", SENTENCES.unavailable(path, reason), cause);
}

export function closedError(path: string): StoreError {
  return new StoreError("closed", SENTENCES.closed(path, ""));
}

/** Returns the error for a database that failed a check. */
export function damagedError(path: string, finding: string): StoreError {
  return new StoreError("damaged", SENTENCES.damaged(path, finding.split("\n").at(-1) ?? ""));
}

/** Returns the error for a database of a later version of Antiphon. */
export function newerError(path: string, version: number, known: number): StoreError {
  return new StoreError("newer", SENTENCES.newer(path, `version ${version}, known are up to ${known}`));
}

/** A store error in plain parts, since cloning would lose its class. */
export interface StoreWireError {
  readonly problem: StoreProblem;
  readonly message: string;
}

/** Converts any thrown value for another thread. */
export function toWire(thrown: unknown, path: string): StoreWireError {
  const { problem, message } = asStoreError(thrown, path);
  return { problem, message };
}

/** Reverses {@link toWire}. */
export function fromWire({ problem, message }: StoreWireError): StoreError {
  return new StoreError(problem, message);
}

type FileProblem = Exclude<StoreProblem, "unreachable">;

const SENTENCES: Readonly<Record<FileProblem, (path: string, detail: string) => string>> = {
  damaged: (path, detail) =>
    `The database ${path} is damaged (${detail}): restore it from a backup, or move it away to begin without keys and usage.`,
  unwritable: (path, detail) =>
    `The database ${path} cannot be opened for writing (${detail}): give the server write access to its folder, or name another with --data-dir.`,
  disk: (path, detail) =>
    `The disk of the database ${path} is full or failing (${detail}): free some space, or check the disk.`,
  busy: (path, detail) =>
    `The database ${path} was held by another process for too long (${detail}): try again, or stop what holds it.`,
  unavailable: (path, detail) => `The database ${path} does not answer (${detail}): try again.`,
  newer: (path, detail) =>
    `The database ${path} was written by a later Antiphon (${detail}): upgrade, or name another data directory with --data-dir.`,
  closed: (path) => `The database ${path} is closed: open it again.`,
  failed: (path, detail) => `The database ${path} failed (${detail}): nothing was changed.`,
};

/**
 * Problems by SQLite's primary result code (sqlite.org/rescode.html): PERM, BUSY, LOCKED, READONLY, IOERR and so on.
 * PROTOCOL (15) means that WAL locking failed for seconds.
 */
const SQLITE_PROBLEMS: Readonly<Record<number, FileProblem>> = {
  3: "unwritable",
  5: "busy",
  6: "busy",
  8: "unwritable",
  10: "disk",
  11: "damaged",
  13: "disk",
  14: "unwritable",
  15: "busy",
  26: "damaged",
};

const FILE_SYSTEM_PROBLEMS: Readonly<Record<string, FileProblem>> = {
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

function problemOf({ message, code, rawCode }: ReturnType<typeof reported>): FileProblem {
  // The binding reports a failed open only as text.
  if (message.includes("Unable to open")) return "unwritable";
  if (rawCode !== null) return SQLITE_PROBLEMS[rawCode & 0xff] ?? "failed";
  return FILE_SYSTEM_PROBLEMS[code] ?? "failed";
}

/** Returns the parts of an error. `rawCode` is SQLite's extended result code; its lowest byte is the primary one. */
function reported(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error), code: "", rawCode: null };
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const rawCode = "rawCode" in error && typeof error.rawCode === "number" ? error.rawCode : null;
  return { message: error.message, code, rawCode };
}
