import { startTold, type ToldProcess } from "../told-process.ts";
import type { HostileGroup, HostileTally } from "./hostile-job.ts";

/** Hostile clients at work in a process of their own; once they are told to stop, every connection is cut. */
export type Hostile = ToldProcess<HostileTally>;

/** Resolves when the first requests are on their way. @throws Error when the process ends before. */
export function startHostile(url: string, groups: readonly HostileGroup[]): Promise<Hostile> {
  return startTold(new URL("./hostile-program.js", import.meta.url), { url, groups });
}

/** `name: 12 finished, 3 status 429; …`. */
export function describeTally({ outcomes, cpuShare }: HostileTally): string {
  const groups = Object.entries(outcomes).map(([name, ended]) => {
    const counts = Object.entries(ended).map(([outcome, count]) => `${count} ${outcome}`);
    return `${name}: ${counts.join(", ") || "none ended"}`;
  });
  return `${groups.join("; ")} (clients at ${(100 * cpuShare).toFixed(0)} % of a core)`;
}
