import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Database from "libsql";
import { monotonicMs } from "../deadline.ts";
import { StoreError } from "../store.ts";
import { asStoreError, damagedError, newerError } from "./libsql-errors.ts";

/** How long to wait for another process that holds the database, and how to pass the time between two tries. */
export interface LockWait {
  readonly limitMs: number;
  /** Blocks. */
  pause(): void;
}

/**
 * Opens the database of keys and usage, made if it is not there, and brought to the newest version.
 * A commit is on the disk when it returns (WAL, `synchronous=FULL`). Several processes may have it open, and may open
 * it at the same moment: while another is in the way the whole opening is tried again, until the limit has passed.
 *
 * @throws StoreError when the place is unusable, the database is damaged or of a later version, or it stays busy.
 */
export function openDatabase(
  path: string,
  { limitMs = PATIENCE_MS, pause = pauseBriefly }: Partial<LockWait> = {},
): Database.Database {
  const deadlineMs = monotonicMs() + limitMs;
  for (;;) {
    try {
      return opened(path, limitMs);
    } catch (error) {
      const refusal = asStoreError(error, path);
      if (refusal.problem !== "busy" || monotonicMs() >= deadlineMs) throw refusal;
      pause();
    }
  }
}

/**
 * Opens a database that is there and of the newest version for reading alone. What others have committed is seen by the
 * next statement, and nobody who writes is waited for.
 */
export function openForReading(path: string, busyTimeoutMs: number): Database.Database {
  const database = new Database(path, { timeout: busyTimeoutMs });
  database.pragma("query_only = ON");
  return database;
}

/**
 * Runs `work` in one transaction that is visible and durable as a whole or not at all.
 *
 * @param lateAtMs when nobody waits for it any more, by the monotonic clock: it is then taken back
 */
export function inTransaction<T>(
  database: Database.Database,
  work: () => T,
  lateAtMs: number = Number.POSITIVE_INFINITY,
): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    if (monotonicMs() > lateAtMs)
      throw new StoreError("unavailable", "The database took too long: try again.");
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // A full disk may have rolled back already.
    if (database.inTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Reads the whole database and compares every index with its table. It blocks for as long as that takes, may be run beside
 * a server, and changes nothing.
 *
 * @throws StoreError when there is no database, or it is not sound.
 */
export function checkDatabase(path: string): void {
  if (!existsSync(path)) {
    throw new StoreError("failed", `There is no database ${path}: name its folder with --data-dir.`);
  }
  try {
    const database = openForReading(path, PATIENCE_MS);
    try {
      const [row] = database.pragma("integrity_check(1)") as { integrity_check?: string }[];
      const finding = row?.integrity_check ?? "the check said nothing";
      if (finding !== "ok") throw damagedError(path, finding);
    } finally {
      database.close();
    }
  } catch (error) {
    throw asStoreError(error, path);
  }
}

const PATIENCE_MS = 5_000;

/** Of a random length, so that many who wait do not come back in step. */
function pauseBriefly(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + 9 * Math.random());
}

/**
 * SQLite waits for most locks by itself, but not in the switch to WAL: that reads first and then wants to write, and
 * a reader is refused at once while another writes, since two who wait for each other would wait for ever.
 * A connection that was refused is closed: the binding may leave the refused statement open in it.
 */
function opened(path: string, busyTimeoutMs: number): Database.Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  makePrivate(path);
  const database = new Database(path, { timeout: busyTimeoutMs });
  try {
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = FULL");
    database.pragma("foreign_keys = ON");
    migrate(database, path);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * The database holds keys and recordings. What SQLite makes beside it gets its mode; what is there already may have a wider
 * one. A file that is there is not opened: closing it would drop the locks that this process has on it.
 */
function makePrivate(path: string): void {
  const make = () => closeSync(openSync(path, "wx", 0o600));
  for (const work of [make, ...["", "-wal", "-shm"].map((end) => () => chmodSync(`${path}${end}`, 0o600))]) {
    try {
      work();
    } catch {
      // Missing, already there or another user's: SQLite reports what matters.
    }
  }
}

function migrate(database: Database.Database, path: string): void {
  if (versionOf(database) === MIGRATIONS.length) return;
  inTransaction(database, () => {
    const version = versionOf(database);
    if (version > MIGRATIONS.length) throw newerError(path, version, MIGRATIONS.length);
    for (const step of MIGRATIONS.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}

function versionOf(database: Database.Database): number {
  const [row] = database.pragma("user_version") as { user_version: number }[];
  return row?.user_version ?? 0;
}

/** Each step takes the database from the version of its index to the next. Steps are only ever added. */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE keys (
     key_id TEXT PRIMARY KEY,
     hash TEXT NOT NULL UNIQUE,
     label TEXT NOT NULL,
     rpm INTEGER NOT NULL,
     burst INTEGER NOT NULL,
     created_ts REAL NOT NULL,
     revoked_ts REAL
   ) STRICT;
   CREATE TABLE usage_events (
     event_id TEXT PRIMARY KEY,
     key_id TEXT NOT NULL REFERENCES keys,
     input_chars INTEGER NOT NULL,
     input_ticks INTEGER NOT NULL,
     output_ticks INTEGER NOT NULL,
     ts REAL NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE usage_totals (
     key_id TEXT PRIMARY KEY REFERENCES keys,
     requests INTEGER NOT NULL,
     input_chars INTEGER NOT NULL,
     input_ticks INTEGER NOT NULL,
     output_ticks INTEGER NOT NULL,
     last_ts REAL NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  // Events are forgotten after a day. Those of the first version are, all of them: nobody repeats them any more.
  `DROP TABLE usage_events;
   CREATE TABLE usage_events (
     event_id TEXT PRIMARY KEY,
     key_id TEXT NOT NULL REFERENCES keys,
     input_chars INTEGER NOT NULL,
     input_ticks INTEGER NOT NULL,
     output_ticks INTEGER NOT NULL,
     ts REAL NOT NULL,
     recorded_ts REAL NOT NULL DEFAULT (unixepoch('subsec'))
   ) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE voices (
     voice_id TEXT PRIMARY KEY,
     key_id TEXT NOT NULL REFERENCES keys,
     name TEXT NOT NULL,
     name_key TEXT NOT NULL,
     description TEXT NOT NULL,
     ref_text TEXT,
     consent TEXT NOT NULL,
     created_ts REAL NOT NULL,
     duration_s REAL NOT NULL,
     trust REAL NOT NULL,
     cautions TEXT NOT NULL,
     audio BLOB NOT NULL,
     UNIQUE (key_id, name_key)
   ) STRICT;`,
];
