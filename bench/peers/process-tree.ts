import { readdirSync, readFileSync } from "node:fs";
import { maxResidentMb, residentKb } from "../resident.ts";

const TICKS_PER_SECOND = 100;

/**
 * Processor time of a process and its descendants so far, in seconds. Children that have ended and were waited for are
 * included. Linux only.
 */
export function treeCpuS(pid: number): number {
  const ticks = treeOf(pid).map((id) => fieldsOf(id)?.slice(11, 15) ?? []);
  return ticks.flat().reduce((sum, value) => sum + Number(value), 0) / TICKS_PER_SECOND;
}

/** Resident memory of a process and its descendants in MiB: now, and the sum of each one's peak. */
export function treeMemoryMb(pid: number): { readonly now: number; readonly peak: number } {
  let [now, peak] = [0, 0];
  for (const id of treeOf(pid)) {
    try {
      now += residentKb(id) / 1_024;
      peak += maxResidentMb(id);
    } catch {
      // It has ended meanwhile.
    }
  }
  return { now, peak };
}

/** Processor time that the whole machine has spent so far, in seconds. */
export function machineCpuS(): number {
  const [, ...fields] = readFileSync("/proc/stat", "utf8").split("\n")[0]!.split(/\s+/);
  const [user, nice, system, , , irq, softirq, steal] = fields.map(Number);
  return (user! + nice! + system! + irq! + softirq! + steal!) / TICKS_PER_SECOND;
}

function treeOf(pid: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), Number(fieldsOf(Number(name))?.[1])] as const);
  const found = [pid];
  for (const parent of found) for (const [id, own] of parents) if (own === parent) found.push(id);
  return found;
}

/** Fields of `/proc/PID/stat` from the state on (proc(5), field 3); null if the process has ended. */
function fieldsOf(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}
