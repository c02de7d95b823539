import { readFile } from "node:fs/promises";
import { freemem } from "node:os";
import { join } from "node:path";

/** Memory that this process may still take. */
export interface AvailableMemory {
  readonly bytes: number;
  /** Whose limit is the nearest: the machine's memory, or what its container is allowed. */
  readonly limitedBy: "machine" | "container";
}

/**
 * What this process may still take without anything being swapped out or killed: on Linux what the kernel says it can free,
 * and what each control group above this process (v2 or v1) has left, its file cache taken for free; elsewhere what is
 * free.
 *
 * @param root where `/proc` and `/sys` are
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

/** A generation of control groups, and what its files are called. */
interface Generation {
  readonly folder: string;
  readonly limit: string;
  readonly usage: string;
  /** Of `memory.stat`: what of the usage is file cache that can go at once. */
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

/** A group and all above it. Within a container the upper ones, or its own path, may not be there. */
function above(group: string): string[] {
  const parts = group.split("/").filter((part) => part !== "" && part !== "..");
  return Array.from({ length: parts.length + 1 }, (_, count) => parts.slice(0, count).join("/"));
}

async function leftIn(folder: string, { limit, usage, cache }: Generation, text: Text): Promise<number> {
  // "max", or in the first generation a number beyond any memory.
  const max = Number((await text(join(folder, limit))) ?? Number.NaN);
  const used = Number((await text(join(folder, usage))) ?? Number.NaN);
  if (!Number.isFinite(max) || !Number.isFinite(used)) return Number.POSITIVE_INFINITY;
  const freed = Number(cache.exec((await text(join(folder, "memory.stat"))) ?? "")?.[1] ?? 0);
  return max - used + freed;
}
