import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";

const running = new Set<ChildProcess>();

/** Starts a process of which, and of whose children, nothing is left when this one ends. */
export function launch(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, { ...options, detached: true });
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

/** Ends at once whatever {@link launch} has started and is still there. */
export function killChildren(): void {
  for (const { pid } of running) if (pid !== undefined) process.kill(-pid, "SIGKILL");
}

process.on("exit", killChildren);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));
