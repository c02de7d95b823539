import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export interface ChildOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly limitS?: number;
  readonly input?: Uint8Array;
}

export interface Ended {
  /** Null if a signal ended it, as at its time limit. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const running = new Set<ChildProcess>();
process.on("exit", () => running.forEach(end));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));

/** Runs a program, and kills its process group at the time limit. Throws if it cannot be started. */
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
  // A program that does not read its input reports that by its exit code.
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

export function lastLines(text: string, count = 15): string {
  return text.trim().split("\n").slice(-count).join("\n");
}
