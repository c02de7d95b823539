import { type ChildProcess, execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { temporaryFolder } from "../e2e/folders.ts";
import { launch } from "../e2e/program.ts";
import { until, within } from "../waiting.ts";

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
  /** Fills the new folder of data, as `initdb` does, which it does otherwise. */
  readonly fill?: (folder: string) => Promise<void>;
}

/** The superuser of every server, and a password with what has to be encoded in an address. */
export const ROOT = { user: "antiphon", password: "p@ss/wörd" };

/** Where PostgreSQL's programs are, or null. */
const PROGRAMS = programs();

/** Why tests that need PostgreSQL are skipped, or false. Where `CI` is set they may not be. */
export const WITHOUT_POSTGRES = withoutPostgres();

/** PostgreSQL does not run as root; then it runs as nobody. */
export const ITS_USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Starts a server that is ended with the test's process. What is written to it outlives its processes, not the machine. */
export async function startPostgres({
  settings = {},
  fill = initialised,
}: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = temporaryFolder();
  const data = join(folder, "data");
  if (ITS_USER.uid !== undefined) chownSync(folder, ITS_USER.uid, ITS_USER.gid);
  await fill(data);
  const port = await freePort();
  const all = {
    listen_addresses: "127.0.0.1",
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
    await until(`PostgreSQL on port ${port}`, async () => {
      child = launch(program("postgres"), line, {
        ...ITS_USER,
        cwd: folder,
        stdio: ["ignore", "ignore", "pipe"],
      });
      let said = "";
      child.stderr?.on("data", (chunk: Buffer) => {
        said += chunk;
      });
      const ended = once(child, "exit").then(() => "ended");
      const answers = until("it to answer", () => answersAt(addressOf("postgres"))).then(() => "answers");
      if ((await Promise.race([ended, answers])) === "answers") return true;
      answers.catch(() => {});
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

/** The path of a program of PostgreSQL's. */
export function program(name: string): string {
  return join(PROGRAMS ?? "", name);
}

/** Runs a program of PostgreSQL's as the user that its servers run as. */
export async function runProgram(
  name: string,
  line: readonly string[],
  env: Record<string, string> = {},
): Promise<void> {
  await promisify(execFile)(program(name), line, { ...ITS_USER, cwd: "/", env: { ...process.env, ...env } });
}

async function initialised(data: string): Promise<void> {
  const passwords = join(data, "..", "password");
  writeFileSync(passwords, ROOT.password, { mode: 0o644 });
  await runProgram("initdb", [
    ...["-D", data, "-U", ROOT.user, "--pwfile", passwords, "--auth", "scram-sha-256"],
    ...["--no-sync", "--encoding", "UTF8", "--locale", "C"],
  ]);
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

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await within("a port", once(server, "listening"));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function programs(): string | null {
  if (spawnSync("initdb", ["--version"]).status === 0) return "";
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(debian, version, "bin"));
  return found.find((folder) => existsSync(join(folder, "initdb"))) ?? null;
}

function withoutPostgres(): string | false {
  if (PROGRAMS !== null) return false;
  if (process.env.CI) throw new Error("PostgreSQL is missing: apt-get install postgresql");
  return "PostgreSQL is not installed (apt-get install postgresql)";
}
