import assert from "node:assert/strict";
import { describe, it } from "node:test";
import pg from "pg";
import { DatabaseConnections } from "../../../src/accounts/postgres/connections.ts";
import { maintainPartitions } from "../../../src/accounts/postgres/partitions.ts";
import { checkSchema } from "../../../src/accounts/postgres/schema.ts";
import { storeAddress } from "../../../src/accounts/postgres/store-address.ts";
import { newEventId, type Store, StoreError } from "../../../src/accounts/store.ts";
import { until } from "../../waiting.ts";
import { storeConformance } from "../store-conformance.ts";
import { auditedEvents } from "./postgres-audit.ts";
import { needsPostgres, query, startPostgres } from "./postgres-server.ts";
import { DEFAULTS, hashOf, keyRecord, makeKeys, openPostgres, usage, withStores } from "./postgres-stores.ts";

/** An event id without a time. */
const OF_NO_DAY = "00000000-0000-8000-8000-000000000000";

describe("PostgreSQL", needsPostgres(), async () => {
  const server = await startPostgres();

  storeConformance("postgres", async () => openPostgres(await server.url()));

  /** Counts deadlocks. A session reports its own when it ends. */
  async function deadlocksIn(url: string): Promise<number> {
    const name = new URL(url).pathname.slice(1);
    const others = `SELECT FROM pg_stat_activity WHERE datname = '${name}' AND backend_type = 'client backend'`;
    const root = await server.url("postgres");
    await query(root, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    await until("its sessions to end", async () => (await query(root, others)).length === 0);
    const text = `SELECT deadlocks FROM pg_stat_database WHERE datname = '${name}'`;
    return Number((await query<{ deadlocks: string }>(root, text))[0]?.deadlocks);
  }

  describe("with several servers", () => {
    it("shows keys, usage and revocations to the others at once", async () => {
      const url = await server.url();
      await withStores([openPostgres(url), openPostgres(url)], async (one, other) => {
        for (let round = 0; round < 20; round++) {
          const keyId = `key_${round}`;
          assert.equal(await other!.findKey(hashOf(keyId)), null);
          await one!.createKey(keyRecord(keyId), hashOf(keyId));
          assert.equal((await other!.findKey(hashOf(keyId)))?.key.revokedTsS, null);
          await other!.commit([usage(newEventId(), keyId)]);
          assert.equal((await one!.totals(keyId))[0]?.requests, 1);
          await other!.revokeKey(keyId, 9);
          assert.equal((await one!.findKey(hashOf(keyId)))?.key.revokedTsS, 9);
        }
      });
    });

    it("creates tables and first key once when they start together", async () => {
      const url = await server.url();
      const all = Array.from({ length: 16 }, () => openPostgres(url));
      await withStores(all, async (...stores) => {
        const made = await Promise.all(
          stores.map((store, i) => store.createFirstKey(keyRecord(`key_${i}`), hashOf(`key_${i}`))),
        );
        assert.equal(made.filter((isMade) => isMade).length, 1);
        const [key, ...more] = await stores[0]!.listKeys();
        assert.deepEqual(more, []);
        assert.equal(key?.keyId, `key_${made.indexOf(true)}`);
        assert.equal(await stores[1]!.revokeKey(key!.keyId, 2), true);
        assert.equal(await stores[2]!.createFirstKey(keyRecord("key_x"), hashOf("key_x")), false);
      });
      await withStores([openPostgres(url)], async (store) => {
        assert.equal((await store!.listKeys()).length, 1, "and the next one finds them");
      });
    });

    it("commits groups of any keys without deadlock", async () => {
      const url = await server.url();
      const keyIds = Array.from({ length: 60 }, (_, i) => `key_${i}`);
      await withStores(
        Array.from({ length: 4 }, () => openPostgres(url)),
        async (...stores) => {
          await makeKeys(stores[0]!, keyIds);
          // Groups of 1 to 60, with different starts and steps.
          const groups = Array.from({ length: 240 }, (_, i) => {
            const step = [7, 11, 13, 17][i % 4]!;
            return Array.from({ length: 1 + (i % 60) }, (_, k) => keyIds[(19 * i + step * k) % 60]!);
          });
          const commits = groups.map((group, i) =>
            stores[i % 4]!.commit(group.map((keyId) => usage(newEventId(), keyId))),
          );
          await Promise.all(commits);
          assert.equal((await auditedEvents(url)).size, groups.flat().length);
          assert.equal(await deadlocksIn(url), 0, "nor was one tried again");
        },
      );
    });

    it("counts an event once that all of them commit repeatedly", async () => {
      const url = await server.url();
      await withStores(
        Array.from({ length: 4 }, () => openPostgres(url)),
        async (...stores) => {
          await makeKeys(stores[0]!, ["key_a", "key_b"]);
          const records = Array.from({ length: 200 }, (_, i) =>
            usage(newEventId(), i % 2 ? "key_a" : "key_b"),
          );
          const commits = Array.from({ length: 170 }, (_, round) =>
            stores[round % 4]!.commit(
              Array.from({ length: 40 }, (_, i) => records[(round * 37 + i * 11) % 200]!),
            ),
          );
          await Promise.all(commits);
          assert.equal((await auditedEvents(url)).size, 200);
          for (let round = 0; round < 20; round++) {
            const group = Array.from({ length: 100 }, () => usage(newEventId(), "key_a"));
            const turned = [...group].reverse();
            await Promise.all(stores.map((store, i) => store.commit(i % 2 ? group : turned)));
          }
          assert.equal((await auditedEvents(url)).size, 2_200);
          assert.equal(await deadlocksIn(url), 0);
        },
      );
    });

    it("sums exactly and keeps the newest time with skewed clocks", async () => {
      const url = await server.url();
      const day = 86_400;
      await withStores([openPostgres(url), openPostgres(url)], async (...stores) => {
        await makeKeys(stores[0]!, ["key_a"]);
        const nowS = Date.now() / 1_000;
        const times = [nowS, nowS - 5, nowS + 5, nowS - 40 * day, nowS + 40 * day, 0];
        const records = times.map((tsS) => usage(newEventId(Math.floor(tsS * 1_000)), "key_a", tsS));
        for (const record of records) await stores[0]!.commit([record]);
        for (const record of records) await stores[1]!.commit([record]);
        await Promise.all(stores.map((store) => store.commit(records)));
        const [totals] = await stores[0]!.totals();
        assert.deepEqual([totals?.requests, totals?.lastRequestTsS], [6, nowS + 40 * day]);
        assert.equal((await auditedEvents(url)).size, 6);
      });
    });
  });

  describe("at a commit", () => {
    it("writes even if its events are counted already, for durability", async () => {
      const url = await server.url();
      await withStores([openPostgres(url)], async (store) => {
        await makeKeys(store!, ["key_a"]);
        const record = usage(newEventId(), "key_a");
        const writer = async () =>
          (await query<{ xmin: string }>(url, "SELECT xmin FROM antiphon.usage_totals"))[0]?.xmin;
        await store!.commit([record]);
        const [before, writtenBy] = [await store!.totals(), await writer()];
        await store!.commit([record]);
        assert.notEqual(await writer(), writtenBy);
        assert.deepEqual(await store!.totals(), before);
      });
    });

    it("takes a group of 20,000 events in time", async () => {
      const url = await server.url();
      await withStores([openPostgres(url)], async (store) => {
        await makeKeys(store!, ["key_a"]);
        await store!.commit(Array.from({ length: 20_000 }, () => usage(newEventId(), "key_a")));
        assert.equal((await store!.totals())[0]?.requests, 20_000);
      });
    });
  });

  describe("with daily partitions", () => {
    const DAY_MS = 86_400_000;
    const daysIn = async (url: string) =>
      (
        await query<{ name: string }>(
          url,
          "SELECT relname AS name FROM pg_inherits JOIN pg_class ON oid = inhrelid WHERE inhparent = 'antiphon.usage_events'::regclass",
        )
      ).map(({ name }) => name.replace("usage_events_", ""));
    const dayNames = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, i) =>
        new Date(Date.now() + (from + i) * DAY_MS).toISOString().slice(0, 10).replaceAll("-", ""),
      );
    const countIn = async (url: string, table: string) =>
      Number(
        (await query<{ count: string }>(url, `SELECT count(*) FROM antiphon.usage_events_${table}`))[0]
          ?.count,
      );

    /** A store, and a function that maintains its partitions. */
    async function withDays(
      work: (store: Store, url: string, keep: (keptDays?: number) => Promise<void>) => Promise<void>,
    ): Promise<void> {
      const url = await server.url();
      const connections = new DatabaseConnections(storeAddress(url), DEFAULTS);
      try {
        await withStores([openPostgres(url)], async (store) => {
          await makeKeys(store!, ["key_a"]);
          await work(store!, url, (keptDays = 3) =>
            maintainPartitions(connections, "antiphon", { keptDays, maxMs: 20_000 }),
          );
        });
      } finally {
        await connections.close();
      }
    }

    it("creates them ahead, and uses them", async () => {
      await withDays(async (store, url, keep) => {
        assert.deepEqual((await daysIn(url)).sort(), [...dayNames(-1, 3), "rest"]);
        await keep();
        assert.deepEqual((await daysIn(url)).sort(), [...dayNames(-1, 3), "rest"]);
        await store.commit([
          usage(newEventId(), "key_a"),
          usage(newEventId(Date.now() + 2 * DAY_MS), "key_a"),
        ]);
        const [, today, , later] = dayNames(-1, 3);
        assert.deepEqual(
          [await countIn(url, today!), await countIn(url, later!), await countIn(url, "rest")],
          [1, 1, 0],
        );
      });
    });

    it("moves earlier events into a new partition", async () => {
      await withDays(async (store, url, keep) => {
        const [, today] = dayNames(-1, 0);
        await query(url, `DROP TABLE antiphon.usage_events_${today}`);
        const records = [
          usage(newEventId(), "key_a"),
          usage(newEventId(), "key_a"),
          usage(OF_NO_DAY, "key_a"),
        ];
        await store.commit(records);
        assert.equal(await countIn(url, "rest"), 3);
        const commits = Promise.all(
          Array.from({ length: 100 }, () => store.commit([usage(newEventId(), "key_a")])),
        );
        await keep();
        await commits;
        assert.equal(await countIn(url, "rest"), 1);
        assert.equal(await countIn(url, today!), 102);
        await store.commit(records);
        assert.equal((await store.totals())[0]?.requests, 103);
      });
    });

    it("drops old partitions during commits, and keeps totals", async () => {
      await withDays(async (store, url, keep) => {
        for (let ago = 0; ago < 7; ago++) {
          const [day] = dayNames(-ago, -ago);
          const from = newEventId(Date.now() - ago * DAY_MS).slice(0, 13);
          await query(
            url,
            `CREATE TABLE IF NOT EXISTS antiphon.usage_events_${day} PARTITION OF antiphon.usage_events
             FOR VALUES FROM ('${from}-0000-0000-000000000000') TO ('${from}-ffff-ffff-ffffffffffff')`,
          ).catch(() => {});
        }
        await store.commit([usage(newEventId(), "key_a"), usage(OF_NO_DAY, "key_a")]);
        const commits = Promise.all(
          Array.from({ length: 100 }, () => store.commit([usage(newEventId(), "key_a")])),
        );
        await keep();
        await commits;
        assert.deepEqual((await daysIn(url)).sort(), [...dayNames(-3, 3), "rest"]);
        await keep(1);
        assert.deepEqual((await daysIn(url)).sort(), [...dayNames(-1, 3), "rest"]);
        assert.equal(await countIn(url, "rest"), 1, "which was recorded today");
        await query(url, "UPDATE antiphon.usage_events_rest SET recorded_ts = now() - interval '25 hours'");
        await keep(1);
        assert.equal(await countIn(url, "rest"), 0);
        assert.equal((await store.totals())[0]?.requests, 102);
      });
    });

    it("keeps a partition during a long read, and commits go on", async () => {
      await withDays(async (store, url, keep) => {
        const reader = new pg.Client(url);
        await reader.connect();
        try {
          await reader.query("BEGIN");
          await reader.query("SELECT count(*) FROM antiphon.usage_events");
          const [yesterday] = dayNames(-1, -1);
          await assert.rejects(keep(0), /lock timeout/);
          assert.ok((await daysIn(url)).includes(yesterday!));
          await store.commit([usage(newEventId(), "key_a")]);
          await reader.query("COMMIT");
          await keep(0);
          assert.ok(!(await daysIn(url)).includes(yesterday!));
        } finally {
          await reader.end();
        }
      });
    });

    it("compares events with totals in a check", async () => {
      await withDays(async (store, url) => {
        await store.commit([usage(newEventId(), "key_a"), usage(OF_NO_DAY, "key_a")]);
        await checkSchema(storeAddress(url), DEFAULTS);
        await query(url, "UPDATE antiphon.usage_totals SET input_chars = input_chars - 1");
        await assert.rejects(
          checkSchema(storeAddress(url), DEFAULTS),
          (error: StoreError) =>
            error.problem === "damaged" && /totals of key_a are less/.test(error.message),
        );
      });
    });
  });

  describe("when the database ends a connection", () => {
    /** Ends all other connections. */
    const cut = (url: string) =>
      query(
        url,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );

    it("retries, whether it was idle or in use", async () => {
      const url = await server.url();
      const told: string[] = [];
      const onFailure = (message: string) => told.push(message);
      await withStores([openPostgres(url, { onFailure })], async (store) => {
        await makeKeys(store!, ["key_a"]);
        const record = usage(newEventId(), "key_a");
        const operations = [
          () => store!.commit([record]),
          () => store!.findKey(hashOf("key_a")),
          () => store!.listKeys(),
          () => store!.totals(),
          () => store!.revokeKey("key_a", 3),
          () => store!.createKey(keyRecord("key_b"), hashOf("key_b")),
          () => store!.createFirstKey(keyRecord("key_c"), hashOf("key_c")),
        ];
        for (const operation of operations) {
          await cut(url);
          await operation();
          await Promise.all([operation === operations[5] ? null : operation(), cut(url)]);
        }
        assert.deepEqual(
          (await store!.listKeys()).map(({ keyId, revokedTsS }) => [keyId, revokedTsS]),
          [
            ["key_a", 3],
            ["key_b", null],
          ],
        );
        assert.equal((await auditedEvents(url)).size, 1);
      });
    });
  });

  describe("refuses, with the remedy and no secret,", () => {
    async function refusal(url: string, problem: string, options = {}): Promise<string> {
      const error: unknown = await openPostgres(url, { timeoutMs: 1_000, ...options }).then(
        async (store) => {
          await store.close();
          return new Error("it opened");
        },
        (reason: unknown) => reason,
      );
      assert.ok(error instanceof StoreError, String(error));
      assert.equal(error.problem, problem, error.message);
      assert.match(error.message, /^[A-Z].*: .*\.$/);
      for (const secret of ["p@ss", "p%40ss", "wörd", "guess"]) assert.ok(!error.message.includes(secret));
      return error.message;
    }
    const changed = (url: string, change: (parts: URL) => void) => {
      const parts = new URL(url);
      change(parts);
      return parts.href;
    };

    it("a wrong password and an unknown user", async () => {
      const url = await server.url();
      const wrong = changed(url, (parts) => {
        parts.password = "guess";
      });
      assert.match(await refusal(wrong, "unwritable"), /refuses the login .*ANTIPHON_STORE_URL/);
      const nobody = changed(url, (parts) => {
        parts.username = "nobody";
      });
      assert.match(await refusal(nobody, "unwritable"), /refuses the login .*"nobody"/);
    });

    it("a missing database", async () => {
      assert.match(
        await refusal(await server.url("none"), "unwritable"),
        /none .* does not exist .*createdb/,
      );
    });

    it("a closed port and an unknown host", async () => {
      const nowhere = changed(await server.url("postgres"), (parts) => {
        parts.port = "1";
      });
      assert.match(await refusal(nowhere, "unreachable"), /127\.0\.0\.1:1 cannot be reached/);
      const nameless = changed(nowhere, (parts) => {
        parts.hostname = "nowhere.invalid";
      });
      assert.match(await refusal(nameless, "unreachable"), /nowhere\.invalid:1 cannot be reached/);
    });

    it("a database without TLS if TLS is required", async () => {
      const url = `${await server.url("postgres")}?sslmode=verify-full`;
      assert.match(await refusal(url, "unwritable"), /has no TLS .*sslmode/);
    });

    it("tables of a later version, unchanged", async () => {
      const url = await server.url();
      await withStores([openPostgres(url)], async () => {});
      await query(url, "UPDATE antiphon.schema_version SET version = 99");
      assert.match(await refusal(url, "newer"), /written by a later Antiphon \(version 99, .*store\.schema/);
      assert.deepEqual(await query(url, "SELECT version FROM antiphon.schema_version"), [{ version: 99 }]);
    });

    it("tables of another program, unchanged", async () => {
      const url = await server.url();
      await query(url, "CREATE SCHEMA antiphon; CREATE TABLE antiphon.keys (id int)");
      assert.match(await refusal(url, "unwritable"), /tables of another program .*store\.schema/);
      const tables = "SELECT relname FROM pg_class WHERE relnamespace = 'antiphon'::regnamespace";
      assert.deepEqual(await query(url, tables), [{ relname: "keys" }]);
      await withStores([openPostgres(url, { schema: "ours" })], async (store) => {
        assert.deepEqual(await store!.listKeys(), []);
      });
      await query(url, "CREATE SCHEMA theirs; CREATE TABLE theirs.schema_version (id text)");
      assert.match(await refusal(url, "unwritable", { schema: "theirs" }), /tables of another program/);
    });

    it("an incomplete schema", async () => {
      const url = await server.url();
      await withStores([openPostgres(url)], async () => {});
      await query(url, "DROP TABLE antiphon.usage_totals, antiphon.usage_events");
      await withStores([openPostgres(url)], async (store) => {
        await assert.rejects(
          store!.commit([usage(newEventId(), "key_a")]),
          (error) => error instanceof StoreError && error.problem === "damaged" && !error.isTransient,
        );
      });
    });

    it("a role without permissions", async () => {
      const url = await server.url();
      await query(url, "DROP ROLE IF EXISTS meek; CREATE ROLE meek LOGIN PASSWORD 'guess'");
      const meek = changed(url, (parts) => {
        parts.username = "meek";
        parts.password = "guess";
      });
      assert.match(await refusal(meek, "unwritable"), /lets this role do too little .*CREATE SCHEMA/);
      await query(url, "CREATE SCHEMA antiphon AUTHORIZATION meek");
      await withStores([openPostgres(meek)], async (store) => makeKeys(store!, ["key_a"]));
    });

    it("a read-only database until it is writable", async () => {
      const url = await server.url();
      const database = new URL(url).pathname.slice(1);
      await query(url, `ALTER DATABASE ${database} SET default_transaction_read_only = on`);
      assert.match(await refusal(url, "unreachable"), /25006: .*read-only/);
      await query(await server.url("postgres"), `ALTER DATABASE ${database} RESET ALL`);
      await withStores([openPostgres(url)], async (store) => makeKeys(store!, ["key_a"]));
    });

    it("a database with synchronous_commit off", async () => {
      const url = await server.url();
      await query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET synchronous_commit = off`);
      assert.match(await refusal(url, "unwritable"), /synchronous_commit is off/);
    });
  });
});
