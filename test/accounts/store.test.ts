import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { libsqlStore } from "../../src/accounts/libsql/libsql-store.ts";
import { newEventId } from "../../src/accounts/store.ts";
import { temporaryFolder } from "./folders.ts";
import { memoryStore } from "./memory-store.ts";
import { storeConformance } from "./store-conformance.ts";

storeConformance("memory", async () => memoryStore());
const folder = temporaryFolder();
let stores = 0;
storeConformance("libsql", () => libsqlStore(join(folder, `${stores++}`)));

describe("a libsql store", () => {
  it("makes one first key for all that open it at once", async () => {
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

  it("leaves one file when it is closed", async () => {
    const dataDir = temporaryFolder();
    const store = await libsqlStore(dataDir);
    assert.deepEqual(await store.listKeys(), []);
    assert.equal(existsSync(join(dataDir, "antiphon.db-wal")), true);
    await store.close();
    assert.equal(existsSync(join(dataDir, "antiphon.db-wal")), false);
  });
});

describe("an event id", () => {
  it("is a UUIDv7, which begins with the time", () => {
    const id = newEventId(0x0199_8877_6655);
    assert.match(id, /^01998877-6655-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.ok(newEventId(0xffff_ffff_ffff).startsWith("ffffffff-ffff-7"));
  });

  it("sorts by time, and is unique", () => {
    const times = Array.from({ length: 1_000 }, (_, i) => 1_700_000_000_000 + i);
    const ids = times.map((timeMs) => newEventId(timeMs));
    assert.deepEqual([...ids].sort(), ids);
    assert.equal(new Set(Array.from({ length: 10_000 }, () => newEventId(0))).size, 10_000);
  });
});
