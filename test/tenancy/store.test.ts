import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { libsqlStore } from "../../src/tenancy/libsql-store.ts";
import { temporaryFolder } from "./folders.ts";
import { memoryStore } from "./memory-store.ts";
import { storeConformance } from "./store-conformance.ts";

storeConformance("memory", async () => memoryStore());
const folder = temporaryFolder();
let stores = 0;
storeConformance("libsql", () => libsqlStore(join(folder, `${stores++}`)));

describe("a libsql store", () => {
  it("makes one first key for all who open its data directory at once", async () => {
    const dataDir = temporaryFolder();
    const stores = await Promise.all([1, 2, 3].map(() => libsqlStore(dataDir)));
    try {
      const record = { label: "first", rpm: 60, burst: 60, createdTsS: 1, revokedTsS: null };
      const made = await Promise.all(
        stores.map((store, i) => store.createFirstKey({ ...record, keyId: `key_${i}` }, `${i}`.repeat(64))),
      );
      assert.equal(made.filter((isMade) => isMade).length, 1);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
    }
  });

  it("leaves the database in one file when it is closed", async () => {
    const dataDir = temporaryFolder();
    const store = await libsqlStore(dataDir);
    assert.deepEqual(await store.listKeys(), []);
    assert.equal(existsSync(join(dataDir, "antiphon.db-wal")), true);
    await store.close();
    assert.equal(existsSync(join(dataDir, "antiphon.db-wal")), false);
  });
});
