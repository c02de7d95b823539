import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** How a program is run. */
export interface ChildOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly limitS?: number;
  readonly input?: Uint8Array;
}

/** What a program left behind. */
export interface Ended {
  /** Null where a signal ended it, as one does at its limit. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const running = new Set<ChildProcess>();
process.on("exit", () => running.forEach(end));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));

/** Runs a program to its end, or ends it and all that it started at its limit. Throws where it cannot be started. */
export async function run(
  command: string,
  args: readonly string[],
  { limitS = 60, input, ...options }: ChildOptions = {},
): Promise<Ended> {
  const child = spawn(command, args, { ...options, detached: true, stdio: "pipe" });
  running.add(child);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => stdout.push(piece));
  child.stderr.on("data", (piece: Buffer) => stderr.push(piece));
  // Whoever does not read to the end says so by how it ends.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const timer = setTimeout(() => end(child), limitS * 1_000);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
  } finally {
    clearTimeout(timer);
    running.delete(child);
  }
}

function end({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, "SIGKILL");
}

/** The last lines of what was printed, for a person to see what went wrong. */
export function lastLines(text: string, count = 15): string {
  return text.trim().split("\n").slice(-count).join("\n");
}
