import { readFileSync } from "node:fs";

/** What the first thread of a process has had of the machine so far, in milliseconds. */
export interface ThreadTime {
  readonly runningMs: number;
  /** Ready to run while others did: what a busy machine takes. */
  readonly waitingMs: number;
}

/** Linux's own count (`/proc/…/schedstat`); null where there is none. */
export function mainThreadTime(pid: number): ThreadTime | null {
  if (process.platform !== "linux") return null;
  try {
    const [running, waiting] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
    return { runningMs: Number(running) / 1e6, waitingMs: Number(waiting) / 1e6 };
  } catch {
    return null;
  }
}
