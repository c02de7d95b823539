import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { median } from "./load/percentile.ts";

/**
 * Resident memory of a process at rest, in MiB: the median of seven looks in three seconds, after one second in which
 * nothing is asked of it.
 *
 * @throws Error where the system does not tell.
 */
export async function residentMb(pid: number): Promise<number> {
  await sleep(1_000);
  const looks: number[] = [];
  for (let look = 0; look < 7; look++) {
    looks.push(residentKb(pid) / 1024);
    await sleep(500);
  }
  return median(looks);
}

/** Resident memory of a process now, in KiB. @throws Error where the system does not tell. */
export function residentKb(pid: number): number {
  if (process.platform === "linux") {
    const [, kb] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kb);
  }
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }));
}

/** The most that a process has had resident since its start, in MiB. @throws Error where the system does not tell. */
export function maxResidentMb(pid: number): number {
  const [, kb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kb) / 1024;
}

const TICKS_A_SECOND = 100;

/** Processor time of a process since its start, on all cores. Linux only. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND) * 1_000;
}
