import { DatabaseError } from "pg";
import { StoreError, type StoreProblem } from "../store.ts";

export interface StorePlace {
  /** As in `the database antiphon on db.example:5432`. */
  readonly place: string;
  readonly schema: string;
}

/** The connection leads to a standby, which cannot write and may lag. */
export class StandbyError extends Error {
  override readonly name = "StandbyError";

  constructor() {
    super("a standby answers, and no primary");
  }
}

/** A statement or connection took too long; it may still be carried out. */
export class TooLateError extends Error {
  override readonly name = "TooLateError";
}

/**
 * Turns an error of the database, its driver or the network into one sentence with the remedy. Includes the report
 * only where it cannot hold secrets, since details quote rows.
 */
export function asStoreError(error: unknown, where: StorePlace): StoreError {
  if (error instanceof StoreError) return error;
  const { problem, sentence } = kindOf(error);
  return new StoreError(problem, sentence(where, detailOf(error)));
}

/** Whether a retry on a sound connection may soon succeed. */
export function isTemporaryFailure(error: unknown): boolean {
  return !(error instanceof StoreError) && kindOf(error).passes === true;
}

/** Whether other connections may be dead too, or lead to the same standby. */
export function losesConnections(error: unknown): boolean {
  return !(error instanceof StoreError) && kindOf(error).problem === "unreachable";
}

/** Returns PostgreSQL's SQLSTATE of an error: five characters. */
export function stateOf(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/** Returns the error for a database too old for Antiphon. */
export function tooOldError({ place }: StorePlace, version: string, oldest: string): StoreError {
  return new StoreError(
    "unwritable",
    `${sentenceCase(place)} is of PostgreSQL ${version}, and Antiphon needs ${oldest} or later: upgrade it.`,
  );
}

/** Returns the error for a database that confirms commits before they are on disk. */
export function notDurableError({ place }: StorePlace): StoreError {
  return new StoreError(
    "unwritable",
    `${sentenceCase(place)} does not wait for its disk (synchronous_commit is off), and usage could be lost: set it to on, for this role or for all.`,
  );
}

/** Returns the error for tables of a later version of Antiphon. */
export function newerError({ place, schema }: StorePlace, version: number, known: number): StoreError {
  return new StoreError(
    "newer",
    `The schema ${schema} of ${place} was written by a later Antiphon (version ${version}, known are up to ${known}): upgrade, or name another schema with store.schema.`,
  );
}

/** Returns the error for tables that Antiphon did not create. */
export function foreignError({ place, schema }: StorePlace, detail: string): StoreError {
  return new StoreError(
    "unwritable",
    `The schema ${schema} of ${place} holds tables of another program (${detail}): name another schema with store.schema.`,
  );
}

/** Returns the error for totals smaller than the sum of their events. */
export function inconsistentError({ place, schema }: StorePlace, keyId: string): StoreError {
  return new StoreError(
    "damaged",
    `The schema ${schema} of ${place} is damaged (the totals of ${keyId} are less than its events): restore it from a backup.`,
  );
}

export function closedError(place: string): StoreError {
  return new StoreError("closed", `${sentenceCase(place)} is closed: open it again.`);
}

interface Kind {
  readonly problem: StoreProblem;
  readonly passes?: boolean;
  sentence(where: StorePlace, detail: string): string;
}

/** As in "The database antiphon on db.example:5432 cannot be reached (…): see that …." */
function ofDatabase(problem: StoreProblem, finding: string, remedy: string): Kind {
  const sentence: Kind["sentence"] = ({ place }, detail) =>
    `${sentenceCase(place)} ${finding} (${detail}): ${remedy}.`;
  return { problem, passes: problem === "unreachable" || problem === "busy", sentence };
}

const ADDRESS = "ANTIPHON_STORE_URL or store.urlFile";

const AWAY = ofDatabase(
  "unreachable",
  "cannot be reached",
  "see that PostgreSQL runs there as a primary, and that the network lets this machine to it",
);
const BUSY = ofDatabase(
  "busy",
  "has too much to do",
  "try again, and give it more connections or time if that stays so",
);
const LOGIN = ofDatabase("unwritable", "refuses the login", `correct the user or password in ${ADDRESS}`);
const TLS = ofDatabase(
  "unwritable",
  "cannot be trusted over TLS",
  `name its authority with sslrootcert in ${ADDRESS}, or correct the host, or its certificate`,
);
const NO_TLS = ofDatabase(
  "unwritable",
  "has no TLS",
  `switch ssl on there, or take sslmode out of ${ADDRESS}`,
);
const NO_DATABASE = ofDatabase(
  "unwritable",
  "does not exist",
  `make it with createdb, or name another in ${ADDRESS}`,
);
const FAILED = ofDatabase("failed", "failed", "try again, and look into its log if that stays so");
const NOT_ALLOWED: Kind = {
  problem: "unwritable",
  sentence: ({ place, schema }, detail) =>
    `${sentenceCase(place)} lets this role do too little (${detail}): make the schema for it with CREATE SCHEMA ${schema} AUTHORIZATION the role, or give it what is missing.`,
};
const DISK: Kind = {
  problem: "disk",
  sentence: ({ place }, detail) =>
    `The disk of ${place} is full or failing (${detail}): free some space there, or check the disk.`,
};
const DAMAGED: Kind = {
  problem: "damaged",
  sentence: ({ place, schema }, detail) =>
    `The schema ${schema} of ${place} is not as it was made (${detail}): restore it from a backup, or name an empty one with store.schema.`,
};

/** By SQLSTATE or its class (postgresql.org/docs/current/errcodes-appendix.html). */
const BY_STATE: Readonly<Record<string, Kind>> = {
  "08": AWAY,
  // A transaction was left open for too long.
  "25P03": AWAY,
  // An event's partition was created while the event was being inserted elsewhere.
  "23514": BUSY,
  "25006": AWAY,
  "28": LOGIN,
  "3D000": NO_DATABASE,
  "3F000": DAMAGED,
  "40": BUSY,
  "42501": NOT_ALLOWED,
  "42703": DAMAGED,
  "42P01": DAMAGED,
  "53": BUSY,
  "53100": DISK,
  "55P03": BUSY,
  "57014": BUSY,
  "57": AWAY,
  "58": DISK,
  XX001: DAMAGED,
  XX002: DAMAGED,
};

/** Codes of Node and OpenSSL for certificates and handshakes. */
const TLS_CODES =
  /^(CERT_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(GET|VERIFY|DECRYPT))/;

function kindOf(error: unknown): Kind {
  const state = stateOf(error);
  if (state !== undefined) return BY_STATE[state] ?? BY_STATE[state.slice(0, 2)] ?? FAILED;
  if (error instanceof StandbyError || error instanceof TooLateError) return AWAY;
  if (!(error instanceof Error)) return FAILED;
  if (error.message.startsWith("SASL: ")) return LOGIN;
  if (error.message.includes("does not support SSL")) return NO_TLS;
  if (TLS_CODES.test(codeOf(error))) return TLS;
  if (codeOf(error) !== "" || /^(Connection terminated|Client )/.test(error.message)) return AWAY;
  return FAILED;
}

/** Several failed addresses of one name give an error with an empty message. */
function detailOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(detailOf).join("; ");
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  return error.message.includes(code) ? error.message : `${code}: ${error.message}`;
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

function sentenceCase(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
