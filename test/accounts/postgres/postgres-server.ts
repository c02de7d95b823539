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

/** A PostgreSQL server of a test's own, on 127.0.0.1. */
export interface PostgresServer {
  readonly port: number;
  /** Its folder of data. */
  readonly folder: string;
  /** Where a database of that name is; without one, an empty one that was just made. */
  url(database?: string): Promise<string>;
  /** Starts it again, and waits until it answers. */
  start(): Promise<void>;
  /** Ends it with all its processes: at once with SIGKILL, by the book with SIGINT. */
  kill(signal: "SIGKILL" | "SIGINT"): Promise<void>;
  /** Sends all its processes a signal. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void;
}

export interface PostgresOptions {
  /** Settings beside those that all tests have, as in `wal_level: "replica"`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Fills the new folder of data; `initdb` does it otherwise. */
  readonly fill?: (data: string) => Promise<void>;
  /** Where that folder is made; in a new one otherwise. */
  readonly folder?: string;
  /** The first words of a command that runs another as PostgreSQL's user; none are needed otherwise. */
  readonly runAs?: readonly string[];
}

/** The superuser of every server, and a password with what has to be encoded in an address. */
export const ROOT = { user: "tester", password: "p@ss/wörd" };

/** Where PostgreSQL's programs are, or null. */
const PROGRAMS = programs();

/** Why a server cannot be started here, or null. */
export const NO_POSTGRES =
  PROGRAMS === null ? "PostgreSQL is not installed: apt-get install postgresql" : null;

/** Of a test that needs one, or more than that. */
export function needsPostgres(more: string | null = null): { readonly skip: string | false } {
  return neededHere(NO_POSTGRES ?? more);
}

/** PostgreSQL does not run as root; then it runs as nobody. */
export const ITS_USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A new folder that PostgreSQL's user owns, removed when the test's process ends. */
export function folderOfItsUser(): string {
  const folder = temporaryFolder();
  if (ITS_USER.uid !== undefined) chownSync(folder, ITS_USER.uid, ITS_USER.gid);
  return folder;
}

/** Starts a server that is ended with the test's process. What is written to it outlives its processes, not the machine. */
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
      // Processes of the one before may not have ended yet.
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

/** Does not wait for a child before this process ends, which ends the child. */
export function leave(child: ChildProcess): void {
  child.unref();
  for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
}

/** Runs a statement on a connection of its own. */
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

/** Runs a program of PostgreSQL's to its end, as the user that its servers run as. */
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

/** Makes a cluster in a folder that is not there yet. */
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

/** The server's own process and those that it started. */
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
