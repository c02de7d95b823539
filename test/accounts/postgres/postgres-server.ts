import { type ChildProcess, execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { launch } from "../../children.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { freePort } from "../../free-port.ts";
import { neededHere } from "../../needed-here.ts";
import { until, within } from "../../waiting.ts";

export interface PostgresServer {
  readonly port: number;
  /** Data directory. */
  readonly folder: string;
  /** Returns the address of a database; without a name, of a new empty one. */
  url(database?: string): Promise<string>;
  /** Restarts the server, and waits until it answers. */
  start(): Promise<void>;
  /** Ends all its processes: SIGKILL at once, SIGINT cleanly. */
  kill(signal: "SIGKILL" | "SIGINT"): Promise<void>;
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
}

export interface PostgresOptions {
  /** Settings in addition to the defaults, as in `wal_level: "replica"`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Fills the data directory. Default: `initdb`. */
  readonly fill?: (data: string) => Promise<void>;
  /** Parent of the data directory. Default: a new folder. */
  readonly folder?: string;
  /** Prefix of a command that runs another as PostgreSQL's user. */
  readonly runAs?: readonly string[];
}

/** The superuser, with a password that must be escaped in an address. */
export const ROOT = { user: "tester", password: "p@ss/wörd" };

/** Folder of PostgreSQL's programs, or null. */
const PROGRAMS = programs();

export const NO_POSTGRES =
  PROGRAMS === null ? "PostgreSQL is not installed: apt-get install postgresql" : null;

/** Skips a test without PostgreSQL, or for another reason. */
export function needsPostgres(more: string | null = null): { readonly skip: string | false } {
  return neededHere(NO_POSTGRES ?? more);
}

/** PostgreSQL does not run as root. */
export const ITS_USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Returns a new folder of PostgreSQL's user, removed when the process ends. */
export function folderOfItsUser(): string {
  const folder = temporaryFolder();
  if (ITS_USER.uid !== undefined) chownSync(folder, ITS_USER.uid, ITS_USER.gid);
  return folder;
}

/** Starts a server that ends with the test's process. Its data survives its processes, not the machine. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const { settings = {}, folder = folderOfItsUser(), runAs } = options;
  const { fill = (data) => initialise(data, runAs) } = options;
  const data = join(folder, "data");
  await fill(data);
  const port = await freePort();
  const all = {
    listen_addresses: "127.0.0.1,127.0.0.2",
    port: `${port}`,
    unix_socket_directories: "",
    fsync: "off",
    shared_buffers: "16MB",
    ...settings,
  };
  const line = ["-D", data, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  const addressOf = (database: string) =>
    `postgres://${ROOT.user}:${encodeURIComponent(ROOT.password)}@127.0.0.1:${port}/${database}`;
  let child: ChildProcess | null = null;
  let databases = 0;

  async function start(): Promise<void> {
    const address = addressOf("postgres");
    await until(`PostgreSQL on port ${port}`, async () => {
      const [command, args, asUser] = asItsUser("postgres", line, runAs);
      child = launch(command, args, { ...asUser, cwd: "/", stdio: ["ignore", "ignore", "pipe"] });
      let said = "";
      child.stderr?.on("data", (chunk: Buffer) => {
        said += chunk;
      });
      leave(child);
      let isOver = false;
      child.once("close", () => {
        isOver = true;
      });
      await until("it to answer or to end", async () => isOver || (await answersAt(address)));
      if (!isOver) return true;
      // Processes of the previous server may still be ending.
      if (/lock file|shared memory block|in use/.test(said)) return false;
      throw new Error(said);
    });
  }

  await start();
  return {
    port,
    folder: data,
    async url(database) {
      if (database !== undefined) return addressOf(database);
      const name = `test${databases++}`;
      await query(addressOf("postgres"), `CREATE DATABASE ${name}`);
      return addressOf(name);
    },
    start,
    async kill(signal) {
      const ended = once(child!, "exit");
      const pids = processesOf(child!);
      if (signal === "SIGINT") child!.kill(signal);
      else for (const pid of pids) send(pid, signal);
      await within("the end of PostgreSQL", ended);
    },
    signal(signal) {
      for (const pid of processesOf(child!)) send(pid, signal);
    },
  };
}

/** Lets this process end without waiting for a child. */
export function leave(child: ChildProcess): void {
  child.unref();
  for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
}

/** Runs a statement on its own connection. */
export async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client(url);
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Runs a PostgreSQL program as the servers' user. */
export async function runProgram(
  name: string,
  line: readonly string[],
  {
    runAs,
    env = {},
  }: { readonly runAs?: readonly string[] | undefined; readonly env?: Record<string, string> } = {},
): Promise<void> {
  const [command, args, asUser] = asItsUser(name, line, runAs);
  await promisify(execFile)(command, args, { ...asUser, cwd: "/", env: { ...process.env, ...env } });
}

export async function initialise(
  data: string,
  runAs?: readonly string[],
  more: readonly string[] = [],
): Promise<void> {
  const passwords = join(temporaryFolder(), "password");
  writeFileSync(passwords, ROOT.password);
  chmodSync(dirname(passwords), 0o755);
  const line = [
    ...["-D", data, "-U", ROOT.user, "--pwfile", passwords, "--auth", "scram-sha-256"],
    ...["--no-sync", "--encoding", "UTF8", "--locale", "C", ...more],
  ];
  await runProgram("initdb", line, { runAs });
}

function asItsUser(
  name: string,
  line: readonly string[],
  runAs: readonly string[] | undefined,
): [command: string, args: string[], options: { uid?: number; gid?: number }] {
  const path = join(PROGRAMS ?? "", name);
  if (runAs === undefined) return [path, [...line], ITS_USER];
  const [command, ...words] = runAs;
  return [command!, [...words, path, ...line], {}];
}

async function answersAt(url: string): Promise<boolean> {
  return query(url, "SELECT 1").then(
    () => true,
    () => false,
  );
}

function processesOf({ pid }: ChildProcess): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return [pid!, ...(children === "" ? [] : children.split(" ").map(Number))];
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function programs(): string | null {
  if (spawnSync("initdb", ["--version"]).status === 0) return "";
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(debian, version, "bin"));
  return found.find((folder) => existsSync(join(folder, "initdb"))) ?? null;
}
