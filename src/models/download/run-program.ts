import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { stopWith } from "../../core/stop-with.ts";
import { codeOf, SourceError } from "./pull-error.ts";

/** How a program is run. */
export interface ProgramRun {
  readonly program: string;
  /** What to install where there is none: `Python 3 with pip`. */
  readonly install: string;
  /** Of the process, instead of this one's. */
  readonly env: NodeJS.ProcessEnv;
  /** Kills it. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Takes what it prints, in order; the program waits meanwhile. */
  readonly onOutput?: (bytes: Buffer) => Promise<void>;
}

/** What a program that ended left behind. */
export interface ProgramEnd {
  /** `null` when it was killed. */
  readonly exitCode: number | null;
  /** The end of what it printed on standard error. */
  readonly stderr: string;
}

const STDERR_CHARS = 20_000;

/**
 * Runs a program to its end, or kills it.
 *
 * @throws SourceError when it cannot be started or takes too long; the signal's reason; what `onOutput` throws.
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
  // It is awaited below, perhaps only after it has failed.
  ended.catch(() => {});
  // What the program started may hold its ends open after it was killed.
  const letGo = () => child.stdout.destroy();
  signal.addEventListener("abort", letGo, { once: true });
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
    signal.removeEventListener("abort", letGo);
    await end(child);
  }
}

/** Kills a program that still runs, and waits for it to be gone. */
async function end(child: ChildProcessByStdio<null, Readable, Readable>): Promise<void> {
  child.stderr.destroy();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** Returns the last line that a program printed on standard error, in parentheses; "" if there is none. */
export function lastErrorLine(stderr: string): string {
  const last = stderr.split("\n").findLast((line) => line.trim() !== "" && !line.includes("A complete log"));
  return last === undefined ? "" : ` (${last.trim().slice(0, 200)})`;
}

/** Prefixes of temporary folders within a checkpoint's folder, by the work that is done in them. */
export const WORK_PREFIXES = { npm: ".npm-", pip: ".pip-", conversion: ".draft-" };

/** Removes the temporary folders of killed pulls. Only for the holder of the checkpoint's lock. */
export async function removeWorkFolders(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (Object.values(WORK_PREFIXES).some((prefix) => name.startsWith(prefix))) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}
