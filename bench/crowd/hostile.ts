import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { HostileGroup, HostileTally } from "./hostile-job.ts";

/** Hostile clients at work in a process of their own. */
export interface Hostile {
  /** Cuts every connection, ends the process and says what became of the requests. */
  stop(): Promise<HostileTally>;
}

/** Resolves when the first requests are on their way. @throws Error when the process ends before. */
export async function startHostile(url: string, groups: readonly HostileGroup[]): Promise<Hostile> {
  const child = fork(fileURLToPath(new URL("./hostile-program.js", import.meta.url)), { execArgv: [] });
  const ended = once(child, "exit").then(([code]): never => {
    throw new Error(`The hostile clients ended with code ${code} and no result.`);
  });
  ended.catch(() => {});
  const message = async (): Promise<unknown> => (await Promise.race([once(child, "message"), ended]))[0];
  const begun = message();
  child.send({ url, groups });
  await begun;
  return {
    async stop() {
      const tally = message();
      child.send("stop");
      const result = (await tally) as HostileTally;
      await ended.catch(() => {});
      return result;
    },
  };
}

/** `name: 12 finished, 3 status 429; …`. */
export function describeTally({ outcomes, cpuShare }: HostileTally): string {
  const groups = Object.entries(outcomes).map(([name, ended]) => {
    const counts = Object.entries(ended).map(([outcome, count]) => `${count} ${outcome}`);
    return `${name}: ${counts.join(", ") || "none ended"}`;
  });
  return `${groups.join("; ")} (clients at ${(100 * cpuShare).toFixed(0)} % of a core)`;
}
