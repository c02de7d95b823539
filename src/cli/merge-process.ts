import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Merging } from "../writers/gguf/merge-adapter.ts";

/**
 * How a merging ended: the SHA-256 of what was made, or what was wrong; with the system's code where it could not be
 * written.
 */
export type MergeEnd = { readonly sha256: string } | { readonly problem: string; readonly code?: string };

/**
 * Merges in a process of its own: it blocks nobody, and the memory that it took is gone with it.
 *
 * @returns the SHA-256 of the file that was made
 * @throws Error, with the code of the system where the file could not be written; the signal's reason.
 */
export async function mergeInProcess(merging: Merging, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const end = await endOf(merging, signal);
  signal.throwIfAborted();
  if ("sha256" in end) return end.sha256;
  throw Object.assign(new Error(end.problem), end.code === undefined ? {} : { code: end.code });
}

function endOf(merging: Merging, signal: AbortSignal): Promise<MergeEnd> {
  const child = fork(fileURLToPath(new URL("./merge-run.js", import.meta.url)), {
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    signal,
    killSignal: "SIGKILL",
  });
  return new Promise((resolve) => {
    let end: MergeEnd | null = null;
    child.once("message", (message: MergeEnd) => {
      end = message;
    });
    // Killed by the signal, or never begun.
    child.once("error", ({ message }) => {
      if (child.pid === undefined) resolve({ problem: message });
    });
    child.once("exit", (code, name) => {
      resolve(end ?? { problem: `the process that merges ended with ${name ?? `code ${code}`}` });
    });
    child.send(merging, () => {});
  });
}
