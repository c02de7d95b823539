import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { StoreError } from "../../../src/accounts/store.ts";
import { launch } from "../../children.ts";
import { until, within } from "../../waiting.ts";
import { auditedEvents } from "./postgres-audit.ts";
import { withLoad } from "./postgres-load.ts";
import {
  folderOfItsUser,
  ITS_USER,
  initialise,
  leave,
  needsPostgres,
  startPostgres,
} from "./postgres-server.ts";
import { makeKeys, openPostgres, withStores } from "./postgres-stores.ts";

const WITHOUT_MOUNT =
  spawnSync("unshare", ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0
    ? false
    : "only root may make a small disk";

/** Mounts a disk in memory, visible only to commands run with `runAs`, until this process ends. */
async function smallDisk(folder: string, megabytes: number) {
  const owner = `uid=${ITS_USER.uid},gid=${ITS_USER.gid}`;
  const mount = `mount -t tmpfs -o size=${megabytes}m,mode=700,${owner} tmpfs "${folder}" && echo ready && exec cat`;
  const holder = launch("unshare", ["--mount", "sh", "-c", mount], { stdio: ["pipe", "pipe", "inherit"] });
  await within("the disk", once(holder.stdout!, "data"));
  leave(holder);
  const user = ["-S", `${ITS_USER.uid}`, "-G", `${ITS_USER.gid}`];
  return {
    runAs: ["nsenter", "-t", `${holder.pid}`, "--mount", ...user, "--"],
    /** The folder as other processes see it. */
    seen: join(`/proc/${holder.pid}/root`, folder),
  };
}

describe("a database with a full disk", { skip: needsPostgres().skip || WITHOUT_MOUNT }, () => {
  it("counts nothing that it refuses, and recovers without a restart", async () => {
    const folder = folderOfItsUser();
    const log = join(folderOfItsUser(), "wal");
    const { runAs, seen } = await smallDisk(folder, 80);
    const server = await startPostgres({
      folder,
      runAs,
      fill: (data) => initialise(data, runAs, ["--waldir", log]),
    });
    const url = await server.url();
    await withStores([openPostgres(url), openPostgres(url)], async (...stores) => {
      await makeKeys(stores[0]!, ["key_a", "key_b"]);
      await withLoad(stores, ["key_a", "key_b"], async (load) => {
        await load.more(300);
        const filler = join(seen, "filler");
        const piece = Buffer.alloc(65_536);
        assert.throws(
          () => {
            for (;;) appendFileSync(filler, piece);
          },
          { code: "ENOSPC" },
        );
        await until("refusals", () => load.refused.length > 50);
        for (const error of load.refused) {
          assert.ok(error instanceof StoreError, String(error));
          assert.deepEqual([error.problem, error.isTransient], ["disk", false], error.message);
          assert.match(error.message, /^The disk of the database .* is full or failing \(53100: .*: free/);
        }
        assert.equal((await stores[0]!.listKeys()).length, 2, "what is there can be read");
        rmSync(filler);
        await load.more(300);
        await load.stop();
        assert.deepEqual([...(await auditedEvents(url))].sort(), [...load.acknowledged].sort());
      });
    });
  });
});
