import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Redis } from "iovalkey";
import { BucketsError, type SharedBuckets } from "../../../src/accounts/buckets.ts";
import { PARTS_A_TOKEN } from "../../../src/accounts/token-bucket.ts";
import { takeScript, valkeyBuckets } from "../../../src/accounts/valkey/valkey.ts";
import { parseValkeyAddress } from "../../../src/accounts/valkey/valkey-address.ts";
import { until } from "../../waiting.ts";
import { bucketsConformance } from "../buckets-conformance.ts";
import { PATIENCE, valkeyWorld } from "../buckets-worlds.ts";
import { NO_VALKEY, needsValkey, startValkey, type ValkeyServer } from "./valkey-server.ts";

let server: ValkeyServer;
let client: Redis;
before(async () => {
  if (NO_VALKEY !== null) return;
  server = await startValkey();
  client = new Redis(server.url);
});
after(async () => {
  client?.disconnect();
  await server?.stop();
});

bucketsConformance("on a Valkey server, guarded", () => valkeyWorld(server.url), needsValkey());

describe("buckets on a Valkey server", needsValkey(), () => {
  const open: SharedBuckets[] = [];
  after(() => {
    for (const buckets of open) buckets.close();
  });
  async function opened(prefix = "antiphon", script = takeScript()): Promise<SharedBuckets> {
    const buckets = valkeyBuckets(parseValkeyAddress(server.url), {
      prefix,
      script,
      silenceMs: PATIENCE.timeoutMs,
    });
    open.push(buckets);
    await buckets.connected();
    return buckets;
  }

  it("grant four concurrent clients exactly their content", async () => {
    const stopped = takeScript("{4000000000, 0}");
    const clients = await Promise.all([1, 2, 3, 4].map(() => opened("stopped", stopped)));
    const limits = { rpm: 1_000_000, burst: 1_000 };
    const takes = await Promise.all(
      Array.from({ length: 10_240 }, (_, index) => clients[index % 4]!.take("key_a", limits)),
    );
    assert.equal(takes.filter(({ allowed }) => allowed).length, 1_000);
  });

  it("grant at most burst and rate by the server's clock", async () => {
    const clients = await Promise.all([1, 2, 3, 4].map(() => opened("running")));
    const limits = { rpm: 60_000, burst: 100 };
    const beganMs = Date.now();
    let granted = 0;
    const taking = async (buckets: SharedBuckets) => {
      for (let i = 0; i < 1_000; i++) if ((await buckets.take("key_a", limits)).allowed) granted += 1;
    };
    await Promise.all([...clients, ...clients].map(taking));
    // Plus the millisecond in which it began.
    const gained = (Date.now() - beganMs + 1) * (limits.rpm / 60_000);
    assert.ok(granted >= 100 && granted <= 100 + gained, `${granted} of 100 and ${gained}`);
  });

  it("use one entry per bucket, and write nothing for a peek or refusal", async () => {
    const buckets = await opened("kept");
    const limits = { rpm: 1, burst: 1 };
    assert.deepEqual(await buckets.peek("key_a", limits), { allowed: true, parts: PARTS_A_TOKEN });
    assert.deepEqual(await client.keys("kept*"), []);
    assert.deepEqual(await buckets.take("key_a", limits), { allowed: true, parts: 0 });
    assert.deepEqual(await client.keys("kept*"), ["kept:b:{key_a}"]);
    const entry = await client.get("kept:b:{key_a}");
    assert.match(`${entry}`, /^0 \d{13}$/);
    const { allowed, parts } = await buckets.take("key_a", limits);
    assert.equal(allowed, false);
    assert.ok(parts < PARTS_A_TOKEN);
    assert.equal(await client.get("kept:b:{key_a}"), entry);
  });

  it("delete a bucket that is full again", async () => {
    const buckets = await opened("gone");
    const limits = { rpm: 120, burst: 2 };
    await buckets.take("key_a", limits);
    await buckets.take("key_a", limits);
    const [entry, fullAtMs] = await Promise.all([
      client.get("gone:b:{key_a}"),
      client.pexpiretime("gone:b:{key_a}"),
    ]);
    const [parts = Number.NaN, atMs = Number.NaN] = `${entry}`.split(" ").map(Number);
    assert.equal(fullAtMs, atMs + Math.ceil((2 * PARTS_A_TOKEN - parts) / limits.rpm));
    await until("the bucket to be forgotten", async () => (await client.exists("gone:b:{key_a}")) === 0);
    assert.deepEqual(await buckets.peek("key_a", limits), { allowed: true, parts: 2 * PARTS_A_TOKEN });
  });

  it("keep a bucket until its clock has caught up", async () => {
    const nowS = Math.floor(Date.now() / 1_000);
    const limits = { rpm: 60, burst: 2 };
    const [ahead, behind] = await Promise.all([
      opened("back", takeScript(`{${nowS + 500}, 0}`)),
      opened("back", takeScript(`{${nowS}, 0}`)),
    ]);
    await ahead.take("key_a", limits);
    assert.deepEqual(await behind.take("key_a", limits), { allowed: true, parts: 0 });
    assert.equal(await client.pexpiretime("back:b:{key_a}"), (nowS + 502) * 1_000);
    assert.deepEqual(await behind.take("key_a", limits), { allowed: false, parts: 0 });
  });

  it("are separate with another prefix", async () => {
    const [ours, theirs] = await Promise.all([opened("ours"), opened("theirs")]);
    const limits = { rpm: 1, burst: 1 };
    assert.equal((await ours.take("key_a", limits)).allowed, true);
    assert.equal((await theirs.take("key_a", limits)).allowed, true);
    assert.equal((await ours.take("key_a", limits)).allowed, false);
  });

  it("survive the loss of the server's scripts", async () => {
    const buckets = await opened("flushed");
    const limits = { rpm: 1, burst: 3 };
    await buckets.take("key_a", limits);
    await client.script("FLUSH");
    const parts = await Promise.all([1, 2, 3].map(() => buckets.take("key_a", limits)));
    assert.deepEqual(
      parts.map(({ allowed }) => allowed),
      [true, true, false],
    );
  });

  it("are refused if their name holds another type", async () => {
    const buckets = await opened("other");
    await client.set("other:b:{key_text}", "a text");
    await client.rpush("other:b:{key_list}", "a list");
    for (const name of ["key_text", "key_list"])
      await assert.rejects(buckets.take(name, { rpm: 1, burst: 1 }), BucketsError);
  });

  it("fail at once when they are closed", async () => {
    const buckets = await opened("closed");
    buckets.close();
    await assert.rejects(buckets.take("key_a", { rpm: 1, burst: 1 }), BucketsError);
    buckets.close();
  });
});
