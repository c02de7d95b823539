import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openTenancy } from "../../src/accounts/open.ts";
import { loadSettings } from "../../src/settings/load.ts";

/** A server in a process of its own, on a free port, over a data directory that is removed with it. */
export interface ServerProcess {
  readonly url: string;
  /** A key that no measurement exhausts. */
  readonly key: string;
  readonly pid: number;
  /** From the start of the process to the line that says it listens, in milliseconds. */
  readonly startMs: number;
  /** Ends it as SIGTERM does. */
  stop(): Promise<void>;
}

/** Allocator settings that docs/production.md advises. */
export const MALLOC: readonly string[] = [
  "MALLOC_ARENA_MAX=2",
  "MALLOC_MMAP_THRESHOLD_=262144",
  "MALLOC_TRIM_THRESHOLD_=1048576",
];

/** What starts a server. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Whether it starts the server as a process of its own, which then has to be stopped with it. */
  readonly isWrapper: boolean;
}

export interface ServerOptions {
  /** Takes the flags of `antiphon serve`, which it is unless given. */
  readonly serve?: ServerCommand;
  /** Further flags. */
  readonly flags?: readonly string[];
  /** May put something into its data directory before. */
  readonly prepare?: (dataDir: string) => Promise<void>;
  /** Where a balancer looks for it; a free one unless given. */
  readonly port?: number;
  /** One of the keys that it shares with other servers; made for it alone unless given. */
  readonly key?: string;
}

/**
 * Starts a server and waits until it listens. Settings of the caller's environment do not reach it.
 *
 * @throws Error with the end of what it printed, when it ends before.
 */
export async function startServerProcess({
  serve = SERVE,
  flags = [],
  prepare = async () => {},
  port = 0,
  key: given,
}: ServerOptions = {}): Promise<ServerProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), "antiphon-bench-"));
  const logFile = join(dataDir, "stderr.log");
  const key = given ?? (await makeKey(dataDir));
  await prepare(dataDir);
  const log = openSync(logFile, "wx");
  const begunMs = performance.now();
  const args = [...serve.args, ...flags, "--port", `${port}`, "--data-dir", dataDir];
  const child = spawn(serve.command, args, {
    stdio: ["ignore", "pipe", log],
    env: withoutSettings(process.env),
    cwd: serve.cwd,
    detached: serve.isWrapper,
  });
  closeSync(log);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const signal = (name: NodeJS.Signals) => {
    if (!serve.isWrapper) child.kill(name);
    else if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, name);
  };
  // Whoever measures may fail; the server does not outlive it.
  const onOurExit = () => signal("SIGKILL");
  process.once("exit", onOurExit);
  const stop = async () => {
    const timer = setTimeout(() => signal("SIGKILL"), STOP_GRACE_MS);
    signal("SIGTERM");
    await exited;
    clearTimeout(timer);
    process.off("exit", onOurExit);
    await rm(dataDir, { recursive: true, force: true });
  };

  const url = await new Promise<string | null>((resolve) => {
    let printed = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      const [, address] = /^Antiphon is listening on (\S+)$/m.exec(printed) ?? [];
      if (address !== undefined) resolve(address);
    });
    child.once("error", () => resolve(null));
    void exited.then(() => resolve(null));
  });
  if (url === null || child.pid === undefined) {
    process.off("exit", onOurExit);
    const said = readFileSync(logFile, "utf8").trim().slice(-500);
    await rm(dataDir, { recursive: true, force: true });
    throw new Error(`The server ended before it listened. It said: ${said || "nothing"}`);
  }
  return { url, key, pid: child.pid, startMs: performance.now() - begunMs, stop };
}

const STOP_GRACE_MS = 15_000;

/** `antiphon serve` of this build. */
const SERVE: ServerCommand = {
  command: process.execPath,
  args: [fileURLToPath(new URL("../../src/cli/main.js", import.meta.url)), "serve", "--no-pull"],
  cwd: process.cwd(),
  isWrapper: false,
};

async function makeKey(dataDir: string): Promise<string> {
  const tenancy = await openTenancy(loadSettings({ flags: { dataDir } }));
  const { key } = await tenancy.createKey({ label: "bench", rpm: 1_000_000, burst: 1_000_000 });
  await tenancy.close();
  return key;
}

function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("ANTIPHON_")));
}
