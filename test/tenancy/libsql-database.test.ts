import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import Database from "libsql";
import { openDatabase } from "../../src/tenancy/libsql-database.ts";
import { StoreError } from "../../src/tenancy/store-error.ts";
import { temporaryFolder } from "./folders.ts";

/** A new database that another connection is about to write its first page to. */
function heldDatabase(): { path: string; holder: Database.Database } {
  const path = join(temporaryFolder(), "antiphon.db");
  const holder = new Database(path);
  holder.exec("BEGIN IMMEDIATE");
  return { path, holder };
}

describe("openDatabase", () => {
  it("tries again while another makes the same database, as SQLite does not wait for that by itself", () => {
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

  it("says that another process holds the database, once its patience is over", () => {
    const { path, holder } = heldDatabase();
    const pause = () => assert.fail("it tried again");
    assert.throws(
      () => openDatabase(path, { limitMs: 0, pause }),
      (error) => error instanceof StoreError && error.problem === "busy" && error.message.includes(path),
    );
    holder.close();
  });
});
