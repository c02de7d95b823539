import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { monotonicMs } from "../../../src/accounts/deadline.ts";
import { DatabaseConnections } from "../../../src/accounts/postgres/connections.ts";
import { storeAddress } from "../../../src/accounts/postgres/store-address.ts";
import { newEventId, type Store, StoreError } from "../../../src/accounts/store.ts";
import { tenancyOn } from "../../../src/accounts/tenancy.ts";
import { until, within } from "../../waiting.ts";
import { startProxy, type TcpProxy, through } from "../tcp-proxy.ts";
import { auditedEvents } from "./postgres-audit.ts";
import { type Load, withLoad } from "./postgres-load.ts";
import { needsPostgres, query, startPostgres } from "./postgres-server.ts";
import { hashOf, keyRecord, makeKeys, openPostgres, usage, withStores } from "./postgres-stores.ts";

const KEYS = Array.from({ length: 20 }, (_, i) => `key_${i}`);

function isUnreachable(error: unknown): boolean {
  assert.ok(error instanceof StoreError, String(error));
  assert.deepEqual([error.problem, error.isTransient], ["unreachable", true], error.message);
  return true;
}

/** Checks that the events are exactly the acknowledged commits. */
async function assertExact(url: string, acknowledged: ReadonlySet<string>): Promise<void> {
  assert.deepEqual([...(await auditedEvents(url))].sort(), [...acknowledged].sort());
}

describe("a PostgreSQL database under load by two servers", needsPostgres(), async () => {
  const server = await startPostgres();
  async function loaded(
    urls: readonly [string, string],
    work: (load: Load, stores: readonly Store[]) => Promise<void>,
    options: Parameters<typeof openPostgres>[1] = {},
  ): Promise<void> {
    await withStores(
      urls.map((url) => openPostgres(url, options)),
      async (...stores) => {
        await makeKeys(stores[0]!, KEYS);
        await withLoad(stores, KEYS, async (load) => {
          await load.more(200);
          await work(load, stores);
          await load.stop();
          assert.deepEqual(load.refused, []);
        });
      },
    );
  }

  async function withProxy(work: (url: string, proxy: TcpProxy) => Promise<void>): Promise<void> {
    const url = await server.url();
    const proxy = await startProxy(server.port);
    try {
      await work(url, proxy);
    } finally {
      await proxy.close();
    }
  }

  it("loses, repeats and refuses nothing when killed three times", async () => {
    const url = await server.url();
    await loaded([url, url], async (load) => {
      for (let kills = 0; kills < 3; kills++) {
        await server.kill("SIGKILL");
        await server.start();
        await load.more(300);
      }
      await load.stop();
      await assertExact(url, load.acknowledged);
    });
  });

  it("is waited for while its operator restarts it", async () => {
    const url = await server.url();
    const messages: string[] = [];
    const watch = {
      onFailure: (message: string) => messages.push(message),
      onRecovery: (message: string) => messages.push(message),
    };
    await loaded(
      [url, url],
      async (load) => {
        await server.kill("SIGINT");
        await server.start();
        await load.more(300);
        await load.stop();
        await assertExact(url, load.acknowledged);
      },
      watch,
    );
    assert.match(
      messages[0] ?? "",
      /^The database test\d+ on 127\.0\.0\.1:\d+ cannot be reached \(.*\): see/,
    );
    assert.match(messages.at(-1) ?? "", /^the database test\d+ on 127\.0\.0\.1:\d+ answers again$/);
    assert.equal(messages.length, 4, "each server says each once");
  });

  it("recovers from a hang: keys are refused in time, usage waits", async () => {
    const url = await server.url();
    await loaded(
      [url, url],
      async (load, [store]) => {
        server.signal("SIGSTOP");
        try {
          await assert.rejects(store!.findKey(hashOf("key_0")), isUnreachable);
          await assert.rejects(store!.totals(), isUnreachable);
        } finally {
          server.signal("SIGCONT");
        }
        await until("keys to be found again", () =>
          store!.findKey(hashOf("key_0")).then(
            (found) => found !== null,
            () => false,
          ),
        );
        await load.more(300);
        await load.stop();
        await assertExact(url, load.acknowledged);
      },
      { timeoutMs: 400 },
    );
  });

  it("serves one server while the network cuts off the other", () =>
    withProxy(async (url, proxy) => {
      await loaded(
        [through(proxy, url), url],
        async (load, [cutOff, other]) => {
          proxy.hold();
          await assert.rejects(cutOff!.findKey(hashOf("key_0")), isUnreachable);
          assert.notEqual(await other!.findKey(hashOf("key_0")), null);
          await load.more(300);
          proxy.pass();
          await until("keys to be found again", () =>
            cutOff!.findKey(hashOf("key_0")).then(
              (found) => found !== null,
              () => false,
            ),
          );
          await load.more(300);
          await load.stop();
          await assertExact(url, load.acknowledged);
        },
        { timeoutMs: 400 },
      );
    }));

  it("counts an event once if its answer is lost after the commit", () =>
    withProxy(async (url, proxy) => {
      await withStores([openPostgres(through(proxy, url))], async (store) => {
        await makeKeys(store!, ["key_a"]);
        for (let round = 0; round < 5; round++) {
          const record = usage(newEventId(), "key_a");
          proxy.holdAnswers();
          const commit = store!.commit([record]);
          await until("the event to be counted", async () => (await auditedEvents(url)).has(record.eventId));
          proxy.cut();
          proxy.pass();
          await commit;
          assert.equal((await store!.totals())[0]?.requests, round + 1);
        }
        assert.equal((await auditedEvents(url)).size, 5);
      });
    }));

  it("keeps a created key if the answer is lost", () =>
    withProxy(async (url, proxy) => {
      await withStores([openPostgres(through(proxy, url))], async (store) => {
        const isThere = (keyId: string) => async () =>
          (await query<{ key_id: string }>(url, "SELECT key_id FROM antiphon.keys")).some(
            ({ key_id }) => key_id === keyId,
          );
        proxy.holdAnswers();
        const made = store!.createKey(keyRecord("key_a"), hashOf("key_a"));
        await until("the key", isThere("key_a"));
        proxy.cut();
        proxy.pass();
        await made;
        await assert.rejects(store!.createKey(keyRecord("key_a"), hashOf("key_a")), StoreError);
        await assert.rejects(store!.createKey(keyRecord("key_b"), hashOf("key_a")), StoreError);
        assert.equal((await store!.listKeys()).length, 1);
      });
    }));

  it("reports a created first key if the answer is lost", () =>
    withProxy(async (url, proxy) => {
      await withStores([openPostgres(through(proxy, url))], async (store) => {
        proxy.cutBefore("COMMIT");
        assert.equal(await store!.createFirstKey(keyRecord("key_a"), hashOf("key_a")), true);
        assert.equal(await store!.createFirstKey(keyRecord("key_b"), hashOf("key_b")), false);
        assert.deepEqual(
          (await store!.listKeys()).map(({ keyId }) => keyId),
          ["key_a"],
        );
      });
    }));

  it("costs one request its time when it drops connections silently", () =>
    withProxy(async (url, proxy) => {
      await withStores([openPostgres(through(proxy, url), { timeoutMs: 1_000 })], async (store) => {
        await makeKeys(store!, ["key_a"]);
        const all = () =>
          Promise.all([
            store!.findKey(hashOf("key_a")),
            store!.listKeys(),
            store!.commit([usage(newEventId(), "key_a")]),
          ]);
        await all();
        proxy.forget();
        await assert.rejects(store!.findKey(hashOf("key_a")), isUnreachable);
        await all();
        assert.equal((await auditedEvents(url)).size, 2);
      });
    }));

  it("refuses usage after the time limit as transient", () =>
    withProxy(async (url, proxy) => {
      const limits = { timeoutMs: 200, commitTimeoutMs: 500 };
      await withStores([openPostgres(through(proxy, url), limits)], async (store) => {
        await makeKeys(store!, ["key_a"]);
        proxy.hold();
        await assert.rejects(store!.commit([usage(newEventId(), "key_a")]), isUnreachable);
        proxy.pass();
        await store!.commit([usage(newEventId(), "key_a")]);
      });
      await auditedEvents(url);
    }));

  it("groups waiting work at 100 ms of latency", () =>
    withProxy(async (url, proxy) => {
      await withStores([openPostgres(through(proxy, url))], async (store) => {
        await makeKeys(store!, KEYS);
        proxy.pass(50);
        await withLoad([store!], KEYS, async (load) => {
          await load.more(160);
          const found = await Promise.all(
            Array.from({ length: 500 }, (_, i) => store!.findKey(hashOf(`key_${i % 25}`))),
          );
          assert.equal(found.filter((key) => key !== null).length, 400);
          await load.stop();
          assert.deepEqual(load.refused, []);
          await assertExact(url, load.acknowledged);
        });
      });
    }));

  it("keeps usage if the server stops while a commit waits", () =>
    withProxy(async (url, proxy) => {
      const store = await openPostgres(through(proxy, url));
      await makeKeys(store, ["key_a"]);
      const tenancy = tenancyOn(store, { anonymous: { rpm: 60, burst: 60 } });
      const record = usage(newEventId(), "key_a");
      proxy.hold();
      const commit = tenancy.commit(record);
      const closed = tenancy.close();
      proxy.pass();
      await commit;
      await within("the store's end", closed);
      await assert.rejects(tenancy.listKeys(), (error) => (error as StoreError).problem === "closed");
      assert.deepEqual(await auditedEvents(url), new Set([record.eventId]));
    }));

  /** Counts busy sessions of Antiphon. */
  const sessionsIn = async (url: string) => {
    const busy = "datname = current_database() AND application_name = 'antiphon' AND state <> 'idle'";
    const [row] = await query<{ count: string }>(url, `SELECT count(*) FROM pg_stat_activity WHERE ${busy}`);
    return Number(row?.count);
  };

  it("leaves no session waiting for a locked table after a refusal", async () => {
    const url = await server.url();
    await withStores([openPostgres(url, { timeoutMs: 200, commitTimeoutMs: 3_000 })], async (store) => {
      await makeKeys(store!, ["key_a"]);
      const holder = new pg.Client(url);
      await holder.connect();
      try {
        await holder.query("BEGIN; LOCK TABLE antiphon.usage_totals IN ACCESS EXCLUSIVE MODE");
        let most = 0;
        let isOver = false;
        const commit = assert.rejects(store!.commit([usage(newEventId(), "key_a")])).finally(() => {
          isOver = true;
        });
        while (!isOver) most = Math.max(most, await sessionsIn(url));
        await commit;
        assert.ok(most <= 2, `${most} at once, of many tries`);
        await until("all sessions to be idle", async () => (await sessionsIn(url)) === 0);
      } finally {
        await holder.end();
      }
      await store!.commit([usage(newEventId(), "key_a")]);
      assert.equal((await auditedEvents(url)).size, 1);
    });
  });

  it("frees the locks of a server that was cut off", async () => {
    const url = await server.url();
    const proxy = await startProxy(server.port);
    const cutOff = new DatabaseConnections(storeAddress(through(proxy, url)), {
      connections: 1,
      timeoutMs: 500,
    });
    try {
      await withStores([openPostgres(url)], async (store) => {
        await makeKeys(store!, ["key_a"]);
        const began = monotonicMs();
        const held = cutOff.transaction(async (run) => {
          await run({ text: "LOCK TABLE antiphon.usage_events IN ACCESS EXCLUSIVE MODE" });
          proxy.forget();
          await run({ text: "SELECT 1" });
        }, began + 1_000);
        const commit = assert.rejects(held).then(() => store!.commit([usage(newEventId(), "key_a")]));
        await commit;
        assert.equal((await auditedEvents(url)).size, 1);
      });
    } finally {
      await proxy.close();
      await cutOff.close();
    }
  });

  it("reports a lack of connections as transient", async () => {
    const url = await server.url();
    const role = "crowded";
    await query(
      url,
      `CREATE ROLE ${role} LOGIN PASSWORD 'x' CONNECTION LIMIT 1; CREATE SCHEMA antiphon AUTHORIZATION ${role}`,
    );
    const crowded = new URL(url);
    crowded.username = role;
    crowded.password = "x";
    await withStores([openPostgres(crowded.href, { connections: 1 })], async (store) => {
      await makeKeys(store!, ["key_a"]);
      await assert.rejects(
        openPostgres(crowded.href, { timeoutMs: 1_000 }),
        (error) => error instanceof StoreError && error.problem === "busy" && error.isTransient,
      );
      await Promise.all(Array.from({ length: 50 }, () => store!.commit([usage(newEventId(), "key_a")])));
      assert.equal((await store!.totals())[0]?.requests, 50);
    });
  });
});
