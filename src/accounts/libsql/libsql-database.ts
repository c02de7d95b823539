import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import Database from "libsql";
import { monotonicMs } from "../deadline.ts";
import { StoreError } from "../store.ts";
import { asStoreError, damagedError, newerError } from "./libsql-errors.ts";

/** Maximum wait for a database locked by another process, and how to pause between attempts. */
export interface LockWait {
  readonly limitMs: number;
  /** Blocks. */
  pause(): void;
}

/**
 * Opens the database of keys and usage, creates it if missing, and migrates it to the current version. A commit is on
 * disk when it returns (WAL, `synchronous=FULL`). Several processes may open the database at once: while it is
 * locked, opening is retried until the limit.
 *
 * @throws StoreError if the path is unusable, the database is damaged or newer, or it stays locked
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
 * Opens an existing, current database for reading. Each statement sees all earlier commits and waits for no writer.
 */
export function openForReading(path: string, busyTimeoutMs: number): Database.Database {
  const database = new Database(path, { timeout: busyTimeoutMs });
  database.pragma("query_only = ON");
  return database;
}

/**
 * Runs `work` in one durable transaction.
 *
 * @param lateAtMs monotonic time after which the transaction is rolled back instead
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
    // A full disk may already have rolled it back.
    if (database.inTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/**
 * Reads the whole database and compares every index with its table. Blocks meanwhile; changes nothing, so it may run
 * while a server is running.
 *
 * @throws StoreError if there is no database or it is damaged
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

/** Sleeps for a random time, so that waiting processes do not retry in step. */
function pauseBriefly(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + 9 * Math.random());
}

/**
 * Opens the database once. SQLite itself waits for most locks, but not for the switch to WAL, where it refuses at
 * once to avoid a deadlock. A refused connection is closed, because the binding may leave the statement open in it.
 */
function opened(path: string, busyTimeoutMs: number): Database.Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  makePrivate(path);
  const database = new Database(path, { timeout: busyTimeoutMs });
  try {
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = FULL");
    database.pragma("foreign_keys = ON");
    // For inserts as well: they move rows between pages, and would leave copies behind.
    database.pragma("secure_delete = ON");
    migrate(database, path);
    emptyLog(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Moves the write-ahead log into the database and truncates it, so that no file keeps what was deleted. Does not wait
 * for readers, and tries again a little later if they are in the way or the disk fails: the deletion itself is durable.
 */
export function emptyLog(database: Database.Database, attempts = EMPTYING.attempts): void {
  if (attempts === 0 || !database.open) return;
  const [{ timeout }] = database.pragma("busy_timeout") as [{ timeout: number }];
  database.pragma("busy_timeout = 0");
  let busy = 1;
  try {
    [{ busy }] = database.pragma("wal_checkpoint(TRUNCATE)") as [{ busy: number }];
  } catch {}
  database.pragma(`busy_timeout = ${timeout}`);
  if (busy !== 0) setTimeout(() => emptyLog(database, attempts - 1), EMPTYING.pauseMs).unref();
}

const EMPTYING = { attempts: 20, pauseMs: 200 };

/**
 * Restricts the database's mode, as it holds keys and recordings. Files that SQLite adds inherit it. An existing file
 * is not opened here: closing it would drop this process's locks.
 */
function makePrivate(path: string): void {
  const make = () => closeSync(openSync(path, "wx", 0o600));
  for (const work of [make, ...["", "-wal", "-shm"].map((end) => () => chmodSync(`${path}${end}`, 0o600))]) {
    try {
      work();
    } catch {
      // Missing, existing or another user's: SQLite reports what matters.
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

/** Each entry migrates from the version of its index to the next. Entries are only ever added. */
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
  // Events expire after a day, so all of those written by version 1 have.
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
