import { fileURLToPath } from "node:url";
import type { Merging } from "../writers/gguf/merge-adapter.ts";
import { type ChildProblem, inChild } from "./child-task.ts";

/**
 * How a merging ended: the SHA-256 of what was made, or what was wrong; with the system's code where it could not be
 * written.
 */
export type MergeEnd = { readonly sha256: string } | ChildProblem;

/**
 * Merges in a process of its own.
 *
 * @returns the SHA-256 of the file that was made
 * @throws Error, with the code of the system where the file could not be written; the signal's reason.
 */
export async function mergeInProcess(merging: Merging, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const end = await inChild<MergeEnd>(RUN, merging, "merges", signal);
  signal.throwIfAborted();
  if ("sha256" in end) return end.sha256;
  throw Object.assign(new Error(end.problem), end.code === undefined ? {} : { code: end.code });
}

const RUN = fileURLToPath(new URL("./merge-run.js", import.meta.url));
