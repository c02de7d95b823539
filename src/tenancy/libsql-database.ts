import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Database from "libsql";
import { asStoreError, damaged, newer } from "./libsql-errors.ts";
import { MIGRATIONS } from "./migrations.ts";

const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the database of keys and usage, made if it is not there, checked and brought to the newest version.
 * A commit is on the disk when it returns (WAL, `synchronous=FULL`). Several processes may have it open.
 *
 * @throws StoreError when the place is unusable or the database is damaged or of a later version.
 */
export function openDatabase(path: string): Database.Database {
  let database: Database.Database | null = null;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    database = new Database(path, { timeout: BUSY_TIMEOUT_MS });
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = FULL");
    database.pragma("foreign_keys = ON");
    check(database, path);
    migrate(database, path);
    return database;
  } catch (error) {
    database?.close();
    throw asStoreError(error, path);
  }
}

/** Runs `work` in one transaction that is visible and durable as a whole or not at all. */
export function inTransaction<T>(database: Database.Database, work: () => T): T {
  database.exec("BEGIN IMMEDIATE");
  try {
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // A full disk may have rolled back already.
    if (database.inTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function check(database: Database.Database, path: string): void {
  const [row] = database.pragma("quick_check(1)") as { quick_check?: string }[];
  if (row?.quick_check !== "ok") throw damaged(path, row?.quick_check ?? "the check said nothing");
}

function migrate(database: Database.Database, path: string): void {
  if (versionOf(database) === MIGRATIONS.length) return;
  inTransaction(database, () => {
    const version = versionOf(database);
    if (version > MIGRATIONS.length) throw newer(path, version, MIGRATIONS.length);
    for (const step of MIGRATIONS.slice(version)) database.exec(step);
    database.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
  });
}

function versionOf(database: Database.Database): number {
  const [row] = database.pragma("user_version") as { user_version: number }[];
  return row?.user_version ?? 0;
}
