import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { stopWith } from "../../core/stop-with.ts";
import { codeOf, SourceError } from "./pull-error.ts";

interface ProgramRun {
  readonly program: string;
  /** What to install if it is missing, such as `Python 3 with pip`. */
  readonly install: string;
  /** Replaces this process's environment. */
  readonly env: NodeJS.ProcessEnv;
  /** Kills the program when it aborts. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Receives the output in order, with backpressure. */
  readonly onOutput?: (bytes: Buffer) => Promise<void>;
}

export interface ProgramEnd {
  /** `null` if it was killed. */
  readonly exitCode: number | null;
  /** End of standard error. */
  readonly stderr: string;
}

const STDERR_CHARS = 20_000;

/**
 * Runs a program to its end, or kills it.
 *
 * @throws SourceError if it cannot be started or takes too long; the signal's reason; what `onOutput` throws
 */
export async function runProgram(args: readonly string[], run: ProgramRun): Promise<ProgramEnd> {
  const { program, install, env, timeoutMs, onOutput } = run;
  run.signal.throwIfAborted();
  const late = new SourceError(`it took longer than ${timeoutMs / 60_000} minutes`);
  const stop = stopWith([run.signal], { ms: timeoutMs, late: () => late });
  const { signal } = stop;
  const child = spawn(program, args, {
    env,
    signal,
    killSignal: "SIGKILL",
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-STDERR_CHARS);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("close", resolve);
    child.once("error", reject);
  });
  // Awaited below, possibly only after it has failed.
  ended.catch(() => {});
  // Its child processes may keep the pipes open after it was killed.
  const closePipe = () => child.stdout.destroy();
  signal.addEventListener("abort", closePipe, { once: true });
  try {
    for await (const bytes of child.stdout) await onOutput?.(bytes as Buffer);
    return { exitCode: await ended, stderr };
  } catch (error) {
    run.signal.throwIfAborted();
    if (signal.aborted) throw late;
    if (codeOf(error) === "ENOENT") {
      throw new SourceError(`there is no ${program} on this machine: install ${install}`, {
        cause: error,
      });
    }
    if (codeOf(error) === "EACCES") {
      throw new SourceError(`${program} may not be run (EACCES): mend its permissions`, { cause: error });
    }
    throw error;
  } finally {
    stop.end();
    signal.removeEventListener("abort", closePipe);
    await end(child);
  }
}

/** Kills a program that still runs, and waits for its exit. */
async function end(child: ChildProcessByStdio<null, Readable, Readable>): Promise<void> {
  child.stderr.destroy();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** Returns the last line on standard error, in parentheses; "" if there is none. */
export function lastErrorLine(stderr: string): string {
  const last = stderr.split("\n").findLast((line) => line.trim() !== "" && !line.includes("A complete log"));
  return last === undefined ? "" : ` (${last.trim().slice(0, 200)})`;
}

/** Prefixes of temporary folders within a checkpoint's folder. */
export const WORK_PREFIXES = { npm: ".npm-", pip: ".pip-", conversion: ".draft-" };

/** Removes temporary folders of killed pulls. Requires the checkpoint's lock. */
export async function removeWorkFolders(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (Object.values(WORK_PREFIXES).some((prefix) => name.startsWith(prefix))) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}
