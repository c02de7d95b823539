import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openTenancy } from "../../src/accounts/open.ts";
import { loadSettings } from "../../src/settings/load.ts";
import { needsPostgres, startPostgres } from "../../test/accounts/postgres/postgres-server.ts";
import { needsValkey, startValkey } from "../../test/accounts/valkey/valkey-server.ts";
import { temporaryFolder } from "../../test/e2e/folders.ts";
import { freePort } from "../../test/free-port.ts";
import { until, within } from "../../test/waiting.ts";
import { type ServerProcess, startServerProcess } from "../load/server-process.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import { TOP } from "../top.ts";

const HAPROXY_CONFIG = join(TOP, "deploy/haproxy/haproxy.cfg");
/** HAProxy asks each second, and believes the second refusal. */
const DRAIN_DELAY_MS = 3_000;

/** Two servers that share PostgreSQL and Valkey, behind HAProxy with the configuration that the repository has. */
export interface Fleet {
  /** The balancer's address, with a key that no measurement exhausts. */
  readonly balancer: Pick<ServerProcess, "url" | "key">;
  /** The servers as they are now. */
  readonly servers: readonly ServerProcess[];
  /** Stops a server as SIGTERM does, starts it again at its address, and waits until the balancer sends it requests. */
  restart(index: number): Promise<void>;
  stop(): Promise<void>;
}

/** @throws NotMeasuredError where one of the programs is not installed; an error of its own where `CI` is set. */
export async function startFleet(): Promise<Fleet> {
  const missing = needsPostgres().skip || needsValkey().skip || withoutHaproxy();
  if (missing) throw new NotMeasuredError(missing);
  const folder = temporaryFolder();
  const postgres = await startPostgres({ settings: { fsync: "on" } });
  const valkey = await startValkey();
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const storeUrl = await postgres.url();
  const configFile = await file(
    "settings.json",
    JSON.stringify({
      store: { kind: "postgres", urlFile: await file("store-url", storeUrl) },
      buckets: { kind: "valkey", urlFile: await file("buckets-url", valkey.url) },
      drainDelayMs: DRAIN_DELAY_MS,
    }),
  );
  const tenancy = await openTenancy(loadSettings({ configFile, flags: { dataDir: folder } }), {
    storeUrl,
  });
  const { key } = await tenancy.createKey({ label: "bench", rpm: 1_000_000, burst: 1_000_000 });
  await tenancy.close();

  const ports = [await freePort(), await freePort()];
  const startOne = (index: number) =>
    startServerProcess({ flags: ["--config", configFile], port: ports[index]!, key });
  const servers = [await startOne(0), await startOne(1)];

  const bind = await freePort();
  const haproxy = spawn("haproxy", ["-f", HAPROXY_CONFIG], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      PATH: WITH_SBIN,
      ANTIPHON_BIND: `127.0.0.1:${bind}`,
      ANTIPHON_A: `127.0.0.1:${ports[0]}`,
      ANTIPHON_B: `127.0.0.1:${ports[1]}`,
    },
  });
  const url = `http://127.0.0.1:${bind}`;
  const onOurExit = () => haproxy.kill("SIGKILL");
  process.once("exit", onOurExit);
  await until("the balancer", () => {
    if (haproxy.exitCode !== null) throw new Error(`HAProxy ended with code ${haproxy.exitCode}`);
    return fetch(`${url}/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return {
    balancer: { url, key },
    servers,
    async restart(index) {
      await servers[index]!.stop();
      servers[index] = await startOne(index);
      await answersThrough(url, servers[index]!);
    },
    async stop() {
      const ended = once(haproxy, "exit");
      haproxy.kill("SIGTERM");
      await within("the balancer's end", ended);
      process.off("exit", onOurExit);
      await Promise.all(servers.map((server) => server.stop()));
      await valkey.stop();
      await postgres.kill("SIGINT");
    },
  };
}

/** Waits until the balancer has given a request to that server since it was started. */
async function answersThrough(balancer: string, { url }: ServerProcess): Promise<void> {
  const served = async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return Number(/^antiphon_http_requests_total\{[^}]*"\/v1\/info"[^}]*\} (\d+)/m.exec(text)?.[1] ?? 0);
  };
  await until("the balancer to send it requests", async () => {
    await fetch(`${balancer}/v1/info`);
    return (await served()) > 0;
  });
}

const WITH_SBIN = `${process.env.PATH}:/usr/sbin`;

function withoutHaproxy(): string | false {
  if (WITH_SBIN.split(":").some((path) => existsSync(join(path, "haproxy")))) return false;
  if (process.env.CI) throw new Error("HAProxy is missing: apt-get install haproxy");
  return "HAProxy is not installed (apt-get install haproxy)";
}
