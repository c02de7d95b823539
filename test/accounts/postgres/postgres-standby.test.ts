import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { StoreError } from "../../../src/accounts/store.ts";
import { until } from "../../waiting.ts";
import { startProxy, through } from "../tcp-proxy.ts";
import { auditedEvents } from "./postgres-audit.ts";
import { withLoad } from "./postgres-load.ts";
import { needsPostgres, query, ROOT, runProgram, startPostgres } from "./postgres-server.ts";
import { hashOf, makeKeys, openPostgres, withStores } from "./postgres-stores.ts";

describe("a primary with a synchronous standby", needsPostgres(), async () => {
  const primary = await startPostgres();
  const source = `host=127.0.0.1 port=${primary.port} user=${ROOT.user} password='${ROOT.password}'`;
  const standby = await startPostgres({
    async fill(data) {
      await runProgram("pg_basebackup", ["-D", data, "-d", source, "--checkpoint=fast", "--no-sync"]);
      writeFileSync(join(data, "standby.signal"), "");
    },
    settings: { primary_conninfo: `${source} application_name=standby` },
  });

  async function replicateSynchronously(): Promise<void> {
    const root = await primary.url("postgres");
    await query(root, "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (standby)'");
    await query(root, "SELECT pg_reload_conf()");
    await until("the standby to be synchronous", async () => {
      const rows = await query<{ sync_state: string }>(root, "SELECT sync_state FROM pg_stat_replication");
      return rows[0]?.sync_state === "quorum";
    });
  }

  it("is required: a standby alone is refused at start", async () => {
    await assert.rejects(
      openPostgres(await standby.url("postgres"), { timeoutMs: 1_000 }),
      (error: StoreError) => error.problem === "unreachable" && /a standby answers/.test(error.message),
    );
  });

  it("delays only usage while the standby is down, and loses nothing", async () => {
    await replicateSynchronously();
    const url = await primary.url();
    await withStores([openPostgres(url, { timeoutMs: 1_000 })], async (store) => {
      await makeKeys(store!, ["key_a"]);
      await withLoad([store!], ["key_a"], async (load) => {
        await load.more(100);
        standby.signal("SIGSTOP");
        try {
          let waiting = 0;
          const state = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
          for (let i = 0; i < 40; i++) {
            assert.notEqual(await store!.findKey(hashOf("key_a")), null, "keys are found meanwhile");
            const [row] = await query<{ count: string }>(url, state);
            waiting = Math.max(waiting, Number(row?.count));
            await pause(100);
          }
          assert.ok(waiting >= 1 && waiting <= 2, `${waiting} sessions waited at once, of many tries`);
        } finally {
          standby.signal("SIGCONT");
        }
        await load.more(100);
        await load.stop();
        assert.deepEqual(load.refused, []);
        assert.deepEqual([...(await auditedEvents(url))].sort(), [...load.acknowledged].sort());
      });
    });
  });

  it("loses nothing acknowledged when the standby takes over", async () => {
    await replicateSynchronously();
    const direct = await primary.url();
    const proxy = await startProxy(primary.port);
    const keyIds = Array.from({ length: 20 }, (_, i) => `key_${i}`);
    const place = through(proxy, direct);
    try {
      await withStores([openPostgres(place), openPostgres(place)], async (...stores) => {
        await makeKeys(stores[0]!, keyIds);
        await withLoad(stores, keyIds, async (load) => {
          await load.more(300);
          // The standby may lag behind its own disk, even behind CREATE DATABASE.
          const there = through({ port: standby.port }, direct);
          await until("the standby to have it", () =>
            query(there, "SELECT FROM antiphon.keys").then(
              () => true,
              () => false,
            ),
          );
          await primary.kill("SIGKILL");
          // Before promotion, as a fail-over may do.
          proxy.lead(standby.port);
          await assert.rejects(
            stores[0]!.findKey(hashOf("key_0")),
            (error: StoreError) => error.problem === "unreachable",
          );
          await query(await standby.url("postgres"), "SELECT pg_promote()");
          await load.more(300);
          assert.notEqual(await stores[0]!.findKey(hashOf("key_0")), null);
          await load.stop();
          assert.deepEqual(load.refused, []);
          assert.deepEqual([...(await auditedEvents(there))].sort(), [...load.acknowledged].sort());
        });
      });
    } finally {
      await proxy.close();
    }
  });
});
