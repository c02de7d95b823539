import { readFile } from "node:fs/promises";
import { freemem } from "node:os";
import { join } from "node:path";

export interface AvailableMemory {
  readonly bytes: number;
  /** The tightest limit: the machine's memory, or the container's quota. */
  readonly limitedBy: "machine" | "container";
}

/**
 * Returns how much more this process may allocate without swapping or being killed. On Linux: the kernel's estimate
 * and what every enclosing control group (v1 or v2) leaves, counting its file cache as free. Elsewhere: free memory.
 *
 * @param root directory that holds `/proc` and `/sys`
 */
export async function availableMemory(root = "/"): Promise<AvailableMemory> {
  const text = (path: string): Promise<string | null> => readFile(join(root, path), "utf8").catch(() => null);
  const kibibytes = /^MemAvailable:\s+(\d+) kB$/m.exec((await text("proc/meminfo")) ?? "")?.[1];
  const machine = kibibytes === undefined ? freemem() : Number(kibibytes) * 1_024;
  const left = await leftInGroups(text);
  return left < machine
    ? { bytes: Math.max(0, left), limitedBy: "container" }
    : { bytes: machine, limitedBy: "machine" };
}

type Text = (path: string) => Promise<string | null>;

/** File names of one version of control groups. */
interface Generation {
  readonly folder: string;
  readonly limit: string;
  readonly usage: string;
  /** Matches the line of `memory.stat` that counts reclaimable file cache. */
  readonly cache: RegExp;
}

const SECOND: Generation = {
  folder: "sys/fs/cgroup",
  limit: "memory.max",
  usage: "memory.current",
  cache: /^inactive_file (\d+)$/m,
};

const FIRST: Generation = {
  folder: "sys/fs/cgroup/memory",
  limit: "memory.limit_in_bytes",
  usage: "memory.usage_in_bytes",
  cache: /^total_inactive_file (\d+)$/m,
};

async function leftInGroups(text: Text): Promise<number> {
  const lines = ((await text("proc/self/cgroup")) ?? "").split("\n");
  let left = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    const [, controllers, group] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || group === undefined) continue;
    const generation = controllers === "" ? SECOND : controllers.split(",").includes("memory") ? FIRST : null;
    if (generation === null) continue;
    for (const each of above(group))
      left = Math.min(left, await leftIn(join(generation.folder, each), generation, text));
  }
  return left;
}

/** Returns a group and all its ancestors. In a container some of them may not exist. */
function above(group: string): string[] {
  const parts = group.split("/").filter((part) => part !== "" && part !== "..");
  return Array.from({ length: parts.length + 1 }, (_, count) => parts.slice(0, count).join("/"));
}

async function leftIn(folder: string, { limit, usage, cache }: Generation, text: Text): Promise<number> {
  // "max" in v2; in v1 a number beyond any memory.
  const max = Number((await text(join(folder, limit))) ?? Number.NaN);
  const used = Number((await text(join(folder, usage))) ?? Number.NaN);
  if (!Number.isFinite(max) || !Number.isFinite(used)) return Number.POSITIVE_INFINITY;
  const freed = Number(cache.exec((await text(join(folder, "memory.stat"))) ?? "")?.[1] ?? 0);
  return max - used + freed;
}
