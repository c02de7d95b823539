import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newApiKey } from "../../src/accounts/api-key.ts";
import { openTenancy } from "../../src/accounts/open.ts";
import { type Tenancy, tenancyOn } from "../../src/accounts/tenancy.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { temporaryFolder } from "./folders.ts";
import { memoryStore } from "./memory-store.ts";

const TERMS = { label: "team", rpm: 60, burst: 2 };

function inMemory() {
  const clock = { nowMs: 0, wallS: 1_000 };
  const tenancy = tenancyOn(memoryStore(), {
    anonymous: { rpm: 60, burst: 3 },
    nowMs: () => clock.nowMs,
    wallClockS: () => clock.wallS,
  });
  return { tenancy, clock };
}

describe("tenancy", () => {
  it("authenticates a key that it made, and no other text", async () => {
    const { tenancy } = inMemory();
    const { key, record } = await tenancy.createKey(TERMS);
    assert.deepEqual(await tenancy.authenticate(key), { keyId: record.keyId, ...TERMS });
    for (const text of [newApiKey(), key.slice(0, -1), "", record.keyId, ` ${key}`, "x".repeat(65_536)])
      assert.equal(await tenancy.authenticate(text), null);
  });

  it("says why a text does not authenticate, without repeating it", async () => {
    const { tenancy } = inMemory();
    const unknown = newApiKey();
    assert.match(tenancy.explainKey(unknown), /unknown or was revoked/);
    assert.match(tenancy.explainKey(unknown.slice(0, -1)), /mistyped or cut short/);
    assert.match(tenancy.explainKey("sk-secret"), /begin with ant_/);
    assert.ok(!tenancy.explainKey("sk-secret").includes("sk-secret"));
  });

  it("refuses a revoked key, and keeps its usage", async () => {
    const { tenancy } = inMemory();
    const { key, record } = await tenancy.createKey(TERMS);
    await tenancy.commit(usage("1", record.keyId));
    assert.equal(await tenancy.revokeKey(record.keyId), true);
    assert.equal(await tenancy.authenticate(key), null);
    assert.equal((await tenancy.usage(record.keyId)).requests, 1);
    assert.equal(await tenancy.revokeKey("key_nobody"), false);
    assert.deepEqual(
      (await tenancy.listKeys()).map(({ createdTsS, revokedTsS }) => [createdTsS, revokedTsS]),
      [[1_000, 1_000]],
    );
  });

  it("lets a temporary key of this process stand for the oldest valid key", async () => {
    const { tenancy } = inMemory();
    assert.equal(await tenancy.temporaryKey(), null);
    const [first, second] = [await tenancy.createKey(TERMS), await tenancy.createKey(TERMS)];
    const keyOf = async (presented: string | null) => (await tenancy.authenticate(presented ?? ""))?.keyId;
    const temporary = await tenancy.temporaryKey();
    assert.equal(await keyOf(temporary), first.record.keyId);
    assert.equal((await tenancy.listKeys()).length, 2);
    await tenancy.revokeKey(first.record.keyId);
    assert.equal(await keyOf(temporary), undefined);
    assert.equal(await keyOf(await tenancy.temporaryKey()), second.record.keyId);
  });

  it("gives each key a bucket with its own terms", async () => {
    const { tenancy, clock } = inMemory();
    const small = (await tenancy.createKey(TERMS)).record;
    const large = (await tenancy.createKey({ label: "b", rpm: 600, burst: 5 })).record;
    assert.equal((await tenancy.take(small)).remaining, 1);
    assert.equal((await tenancy.take(small)).remaining, 0);
    assert.deepEqual(await tenancy.take(small), {
      limit: 60,
      burst: 2,
      allowed: false,
      remaining: 0,
      resetS: 2,
      retryAfterMs: 1_000,
    });
    assert.equal((await tenancy.take(large)).remaining, 4);
    clock.nowMs += 1_000;
    assert.equal((await tenancy.peek(small)).remaining, 1);
    assert.equal((await tenancy.take(small)).allowed, true);
    assert.equal((await tenancy.take(small)).allowed, false);
  });

  it("counts failed guesses by address, apart from every key", async () => {
    const { tenancy } = inMemory();
    const { record } = await tenancy.createKey(TERMS);
    for (let i = 0; i < 3; i++) assert.equal(tenancy.takeAnonymous("192.0.2.1").allowed, true);
    assert.equal(tenancy.takeAnonymous("::ffff:192.0.2.1").allowed, false);
    assert.equal(tenancy.recallAnonymous("192.0.2.1").remaining, 0);
    assert.equal(tenancy.recallAnonymous("192.0.2.2").remaining, 3);
    assert.equal((await tenancy.peek(record)).remaining, 2);
  });

  it("refuses a key with invalid terms", async () => {
    const { tenancy } = inMemory();
    for (const wrong of [
      { ...TERMS, label: "  " },
      { ...TERMS, label: "a\0b" },
      { ...TERMS, label: "\ud800" },
      { ...TERMS, label: "x".repeat(201) },
      { ...TERMS, rpm: 0 },
      { ...TERMS, burst: 1.5 },
      { ...TERMS, burst: 1_000_001 },
    ])
      await assert.rejects(tenancy.createKey(wrong), RangeError);
    assert.deepEqual(await tenancy.listKeys(), []);
  });

  it("is healthy if its store is", () => {
    let isWell = true;
    const store = { ...memoryStore(), isWell: () => isWell };
    const tenancy = tenancyOn(store, { anonymous: { rpm: 60, burst: 3 } });
    assert.equal(tenancy.isWell(), true);
    isWell = false;
    assert.equal(tenancy.isWell(), false);
  });

  it("commits what is waiting before it closes", async () => {
    const settings = loadSettings({ flags: { dataDir: temporaryFolder() } });
    const tenancy = await openTenancy(settings);
    const { record } = await tenancy.createKey(TERMS);
    const commits = ["1", "2", "3"].map((id) => tenancy.commit(usage(id, record.keyId)));
    await tenancy.close();
    await Promise.all(commits);
    const again = await openTenancy(settings);
    assert.equal((await again.usage(record.keyId)).requests, 3);
    await again.close();
  });

  it("sees changes of other processes at once", async () => {
    const settings = loadSettings({ flags: { dataDir: temporaryFolder() } });
    const [server, other] = (await Promise.all([openTenancy(settings), openTenancy(settings)])) as [
      Tenancy,
      Tenancy,
    ];
    for (let round = 0; round < 20; round++) {
      const { key, record } = await other.createKey(TERMS);
      assert.equal((await server.authenticate(key))?.keyId, record.keyId);
      await Promise.all([
        server.commit(usage(`s${round}`, record.keyId)),
        other.commit(usage(`o${round}`, record.keyId)),
      ]);
      assert.equal((await server.usage(record.keyId)).requests, 2);
      await other.revokeKey(record.keyId);
      assert.equal(await server.authenticate(key), null);
    }
    await Promise.all([server.close(), other.close()]);
  });
});

function usage(eventId: string, keyId: string) {
  return { eventId, keyId, inputChars: 1, inputAudioS: 0, outputAudioS: 0.08, tsS: 1 };
}
