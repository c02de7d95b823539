import { existsSync } from "node:fs";
import { mkdir, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NotMeasuredError } from "../not-measured-error.ts";

/** A limit on the processor time of one process and its threads. */
export interface CpuLimit {
  /** Removes the group. The process must have ended. */
  remove(): Promise<void>;
}

const PERIOD_US = 100_000;

/**
 * Moves a process into a control group (version 2, else 1) that may use `cores` of the processor, in periods of 100 ms.
 *
 * @throws NotMeasuredError where control groups cannot be made
 */
export async function limitCpu(pid: number, cores: number): Promise<CpuLimit> {
  const quotaUs = Math.round(cores * PERIOD_US);
  const isV2 = existsSync("/sys/fs/cgroup/cgroup.controllers");
  const group = join(isV2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu", `antiphon-bench-${pid}`);
  try {
    await mkdir(group);
    if (isV2) await writeFile(join(group, "cpu.max"), `${quotaUs} ${PERIOD_US}`);
    else {
      await writeFile(join(group, "cpu.cfs_period_us"), `${PERIOD_US}`);
      await writeFile(join(group, "cpu.cfs_quota_us"), `${quotaUs}`);
    }
    await writeFile(join(group, "cgroup.procs"), `${pid}`);
  } catch (error) {
    await rmdir(group).catch(() => {});
    throw new NotMeasuredError(`the processor time cannot be limited: ${(error as Error).message}`);
  }
  return { remove: () => rmdir(group) };
}
