import assert from "node:assert/strict";
import { chmodSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import Database from "libsql";
import { readsOn } from "../../../src/accounts/libsql/ledger.ts";
import { MIGRATIONS, openDatabase, openForReading } from "../../../src/accounts/libsql/libsql-database.ts";
import { StoreError } from "../../../src/accounts/store.ts";
import { temporaryFolder } from "../folders.ts";

const WINDOWS = process.platform === "win32" ? "there are no modes" : false;

/** Returns a new database that another connection is about to write to. */
function heldDatabase(): { path: string; holder: Database.Database } {
  const path = join(temporaryFolder(), "antiphon.db");
  const holder = new Database(path);
  holder.exec("BEGIN IMMEDIATE");
  return { path, holder };
}

/** Returns a database of the first version, with a key that made one request. */
function firstVersion(): { path: string; database: Database.Database } {
  const path = join(temporaryFolder(), "antiphon.db");
  const database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.pragma("foreign_keys = ON");
  database.exec(MIGRATIONS[0]!);
  database.exec(
    `PRAGMA user_version = 1;
     INSERT INTO keys VALUES ('key_a', '${"a".repeat(64)}', 'team', 60, 20, 1.5, NULL);
     INSERT INTO usage_events VALUES ('2b1f8f36-5d3c-4c37-9a0e-0d9f6ec6a5b1', 'key_a', 7, 14112000, 28224000, 5.5);
     INSERT INTO usage_totals VALUES ('key_a', 1, 7, 14112000, 28224000, 5.5);`,
  );
  return { path, database };
}

describe("openDatabase", () => {
  it("uses settings that survive a power loss", () => {
    const database = openDatabase(join(temporaryFolder(), "antiphon.db"));
    assert.deepEqual(database.pragma("synchronous"), [{ synchronous: 2 }], "FULL");
    assert.deepEqual(database.pragma("journal_mode"), [{ journal_mode: "wal" }]);
    assert.deepEqual(database.pragma("foreign_keys"), [{ foreign_keys: 1 }]);
    database.close();
  });

  it("migrates the first version to the newest, with its totals", () => {
    const { path, database: old } = firstVersion();
    // A server of the first version is still running.
    const insert = old.prepare(
      "INSERT INTO usage_events (event_id, key_id, input_chars, input_ticks, output_ticks, ts) VALUES (?, ?, ?, ?, ?, ?)",
    );
    const database = openDatabase(path);
    assert.deepEqual(database.pragma("user_version"), [{ user_version: MIGRATIONS.length }]);
    assert.deepEqual(readsOn(database).totals(), [
      { keyId: "key_a", requests: 1, inputChars: 7, inputAudioS: 0.5, outputAudioS: 1, lastRequestTsS: 5.5 },
    ]);
    assert.deepEqual(database.prepare("SELECT * FROM usage_events").all(), []);
    assert.equal(insert.run(["e2", "key_a", 1, 2, 3, 6]).changes, 1, "which goes on counting");
    old.close();
    database.close();
  });

  it("creates files that only the owner can read", { skip: WINDOWS }, () => {
    const modesOf = (path: string) =>
      ["", "-wal", "-shm"].map((end) => (statSync(`${path}${end}`).mode & 0o777).toString(8));
    const umask = process.umask(0);
    try {
      const path = join(temporaryFolder(), "antiphon.db");
      chmodSync(dirname(path), 0o755);
      const database = openDatabase(path);
      assert.deepEqual(modesOf(path), ["600", "600", "600"]);
      for (const end of ["", "-wal", "-shm"]) chmodSync(`${path}${end}`, 0o644);
      openDatabase(path).close();
      assert.deepEqual(modesOf(path), ["600", "600", "600"]);
      database.close();
    } finally {
      process.umask(umask);
    }
  });

  it("opens a read-only connection that sees every commit", () => {
    const path = join(temporaryFolder(), "antiphon.db");
    const writing = openDatabase(path);
    const reading = openForReading(path, 0);
    const count = reading.prepare("SELECT count(*) n FROM keys");
    for (let n = 1; n <= 3; n++) {
      writing.exec("BEGIN IMMEDIATE");
      writing.exec(`INSERT INTO keys VALUES ('key_${n}', '${n}', 'x', 1, 1, 1, NULL)`);
      assert.equal((count.get([]) as { n: number }).n, n - 1);
      writing.exec("COMMIT");
      assert.equal((count.get([]) as { n: number }).n, n);
    }
    assert.throws(() => reading.exec("DELETE FROM keys"), /readonly/);
    reading.close();
    writing.close();
  });

  it("retries while another process creates the database", () => {
    const { path, holder } = heldDatabase();
    let pauses = 0;
    const pause = () => {
      if (++pauses === 3) holder.exec("COMMIT");
    };
    const database = openDatabase(path, { limitMs: 60_000, pause });
    assert.equal(pauses, 3);
    assert.deepEqual(database.pragma("journal_mode"), [{ journal_mode: "wal" }]);
    database.close();
    holder.close();
  });

  it("reports that another process holds the database", () => {
    const { path, holder } = heldDatabase();
    const pause = () => assert.fail("it tried again");
    assert.throws(
      () => openDatabase(path, { limitMs: 0, pause }),
      (error) => error instanceof StoreError && error.problem === "busy" && error.message.includes(path),
    );
    holder.close();
  });
});
