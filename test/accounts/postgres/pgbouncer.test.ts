import assert from "node:assert/strict";
import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { launch } from "../../children.ts";
import { freePort } from "../../free-port.ts";
import { until, within } from "../../waiting.ts";
import { storeConformance } from "../store-conformance.ts";
import { through } from "../tcp-proxy.ts";
import { auditedEvents } from "./postgres-audit.ts";
import { withLoad } from "./postgres-load.ts";
import {
  folderOfItsUser,
  ITS_USER,
  leave,
  needsPostgres,
  query,
  ROOT,
  startPostgres,
} from "./postgres-server.ts";
import { hashOf, keyRecord, makeKeys, openPostgres, withStores } from "./postgres-stores.ts";

const PGBOUNCER = ["pgbouncer", "/usr/sbin/pgbouncer"].find(
  (path) => (path.startsWith("/") ? existsSync(path) : true) && spawnSync(path, ["--version"]).status === 0,
);

const NO_PGBOUNCER = PGBOUNCER === undefined ? "pgbouncer is not installed: apt-get install pgbouncer" : null;

describe("servers behind pgbouncer in transaction mode", needsPostgres(NO_PGBOUNCER), async () => {
  const server = await startPostgres();
  const folder = folderOfItsUser();
  const port = await freePort();
  writeFileSync(join(folder, "users"), `"${ROOT.user}" "${ROOT.password}"\n`, { mode: 0o644 });
  writeFileSync(
    join(folder, "ini"),
    `[databases]
* = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, "users")}
pool_mode = transaction
default_pool_size = 4
`,
    { mode: 0o644 },
  );
  let bouncer: ChildProcess;

  async function start(): Promise<void> {
    bouncer = launch(PGBOUNCER!, ["--quiet", join(folder, "ini")], {
      ...ITS_USER,
      cwd: "/",
      stdio: "ignore",
    });
    leave(bouncer);
    const address = through({ port }, await server.url("postgres"));
    await until("pgbouncer to answer", () =>
      query(address, "SELECT 1").then(
        () => true,
        () => false,
      ),
    );
  }
  await start();
  const emptyDatabase = async () => through({ port }, await server.url());

  storeConformance("postgres behind pgbouncer", async () => openPostgres(await emptyDatabase()));

  it("create the tables and the first key once when sixteen start together", async () => {
    const url = await emptyDatabase();
    await withStores(
      Array.from({ length: 16 }, () => openPostgres(url)),
      async (...stores) => {
        const made = await Promise.all(
          stores.map((store, i) => store.createFirstKey(keyRecord(`key_${i}`), hashOf(`key_${i}`))),
        );
        assert.equal(made.filter((isMade) => isMade).length, 1);
        assert.equal((await stores[0]!.listKeys()).length, 1);
      },
    );
  });

  it("lose, repeat and refuse nothing when it restarts under load", async () => {
    const url = await emptyDatabase();
    await withStores([openPostgres(url), openPostgres(url)], async (...stores) => {
      await makeKeys(stores[0]!, ["key_a", "key_b"]);
      await withLoad(stores, ["key_a", "key_b"], async (load) => {
        await load.more(300);
        for (const signal of ["SIGKILL", "SIGTERM"] as const) {
          const ended = once(bouncer, "exit");
          bouncer.kill(signal);
          await within("pgbouncer's end", ended);
          await start();
          await load.more(300);
        }
        await load.stop();
        assert.deepEqual(load.refused, []);
        assert.deepEqual([...(await auditedEvents(url))].sort(), [...load.acknowledged].sort());
      });
    });
  });
});
