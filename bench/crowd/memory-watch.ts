import { residentKb } from "../resident.ts";

/** Resident memory of a process, looked at over and over. */
export interface MemoryWatch {
  /** The most that was seen, in MiB. */
  readonly maxMb: number;
  stop(): void;
}

/** Looks every 50 ms. What comes and goes between two looks is not seen. @throws Error where the system does not tell. */
export function watchMemory(pid: number): MemoryWatch {
  let maxMb = residentKb(pid) / 1024;
  const timer = setInterval(() => {
    maxMb = Math.max(maxMb, residentKb(pid) / 1024);
  }, 50);
  return {
    get maxMb() {
      return maxMb;
    },
    stop: () => clearInterval(timer),
  };
}
