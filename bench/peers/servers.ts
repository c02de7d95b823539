import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { installedKokoro } from "../installed-kokoro.ts";
import { startServerProcess } from "../load/server-process.ts";
import { NotMeasuredError } from "../not-measured-error.ts";
import { environment, runOrThrow } from "../python.ts";
import type { Performance } from "../report.ts";
import { CACHE, PERFORMANCE, TOP } from "../top.ts";
import type { Contender, OwnProgram, PeerPaths, PeerProgram } from "./contenders.ts";

/** A contender that is installed and can be started as often as needed. */
export interface Installed {
  /** Disk space of the program, its libraries and weights, in MB. */
  readonly installMb: number;
  start(): Promise<RunningServer>;
}

export interface RunningServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** It and its descendants are the contender. */
  readonly pid: number;
  /** From the start of the process until it answers, in milliseconds. */
  readonly readyMs: number;
  stop(): Promise<void>;
}

type Note = (text: string) => void;

/** @throws NotMeasuredError when a package, weights or a program cannot be had */
export function install({ id, program }: Contender, note: Note): Promise<Installed> {
  return "packages" in program ? installPeer(id, program, note) : installAntiphon(program, note);
}

/** `extra` is a further argument of `prepare.py`. */
export async function installPeer(
  id: string,
  program: PeerProgram,
  note: Note,
  extra?: string,
): Promise<Installed> {
  if (program.needs !== undefined && !isInPath(program.needs))
    throw new NotMeasuredError(`the program ${program.needs} is not installed`);
  const folder = join(CACHE, "peers", id);
  const weights = join(folder, "weights");
  const prepare = join(TOP, "bench", "peers", "prepare.py");
  const constraints = join(TOP, "bench", "peers", "constraints.txt");
  const files = [readFileSync(prepare), readFileSync(constraints)];
  // The weights' settings name the extra path.
  const stamp = [...program.packages, ...(extra === undefined ? [] : [extra]), ...files].join("\n");
  const wanted = ["--no-compile", "--constraint", constraints, ...program.packages];
  const interpreter = await environment(
    folder,
    wanted,
    stamp,
    () => note(`installing ${id}`),
    async (python) => {
      if (program.weights === undefined) return;
      const more = extra ?? (id === "fastkokoro" ? await installedKokoro(note, []) : "");
      await runOrThrow(python, [prepare, program.weights, weights, more]);
    },
  );
  const bin = join(interpreter, "..");
  return {
    installMb: sizeMb(folder),
    start: async () => startPeer(program, { bin, weights, port: await freePort() }),
  };
}

/** The size is that which `.ci/installed.mjs` measures. */
async function installAntiphon(
  { environment: variables, needsKokoro }: OwnProgram,
  note: Note,
): Promise<Installed> {
  const { rows } = JSON.parse(readFileSync(PERFORMANCE, "utf8")) as Performance;
  const ownMb = Number.parseFloat(rows.find(({ id }) => id === "install-size")!.measured);
  const kokoro = needsKokoro ? await installedKokoro(note, ["af_heart"]) : null;
  const args = [...variables, process.execPath, join(TOP, "dist/src/cli/main.js"), "serve", "--no-pull"];
  return {
    installMb: ownMb + (kokoro === null ? 0 : sizeMb(kokoro)),
    start: async () => {
      const { url, key, pid, startMs, stop } = await startServerProcess({
        serve: { command: "env", args, cwd: TOP, isWrapper: false },
        prepare: async (dataDir) => {
          if (kokoro === null) return;
          await mkdir(join(dataDir, "checkpoints"));
          await symlink(kokoro, join(dataDir, "checkpoints", "kokoro"));
        },
      });
      return { url, headers: { authorization: `Bearer ${key}` }, pid, readyMs: startMs, stop };
    },
  };
}

/** @throws Error with the end of what it printed, when it ends or is not ready within five minutes */
async function startPeer(program: PeerProgram, paths: PeerPaths): Promise<RunningServer> {
  const [command, ...args] = program.command(paths);
  const begunMs = performance.now();
  const child = spawn(command!, args, {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, HF_HUB_OFFLINE: "1", ...program.environment?.(paths) },
    detached: true,
  });
  const exited = new Promise((resolve) => child.once("exit", resolve).once("error", resolve));
  let said = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-500);
  });
  const kill = () => signalGroup(child, "SIGKILL");
  process.once("exit", kill);
  const url = `http://127.0.0.1:${paths.port}`;
  while (!(await isReady(`${url}${program.ready}`))) {
    if (hasNotEnded(child) && performance.now() - begunMs < 300_000) continue;
    kill();
    throw new Error(`it did not start: ${said.trim().split("\n").at(-1) || "it printed nothing"}`);
  }
  return {
    url,
    headers: {},
    pid: child.pid!,
    readyMs: performance.now() - begunMs,
    stop: async () => {
      signalGroup(child, "SIGTERM");
      const timer = setTimeout(kill, 5_000);
      await exited;
      clearTimeout(timer);
      process.off("exit", kill);
    },
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(5_000) });
    await reply.arrayBuffer();
    return reply.ok;
  } catch {
    await sleep(20);
    return false;
  }
}

function hasNotEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (hasNotEnded(child)) process.kill(-child.pid!, signal);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, "close");
  return port;
}

function isInPath(program: string): boolean {
  return (process.env.PATH ?? "").split(":").some((folder) => existsSync(join(folder, program)));
}

function sizeMb(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return (
    files.reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).blocks * 512, 0) / 1e6
  );
}
