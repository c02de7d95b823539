import { cpus } from "node:os";

/** Processor time, in milliseconds of one core. */
interface CpuTime {
  readonly idleMs: number;
  readonly totalMs: number;
  readonly cores: number;
}

/** Tells how many cores of the machine had nothing to do, whoever gave the others work. */
export class IdleCores {
  #from = cpuTime();

  /** A span of time begins. */
  begin(): void {
    this.#from = cpuTime();
  }

  /** How many cores were idle in the span; `null` while it is too short to tell. */
  sinceBegin(): number | null {
    const now = cpuTime();
    const elapsedMs = (now.totalMs - this.#from.totalMs) / now.cores;
    // The system counts in steps of 10 ms.
    return elapsedMs < 80 ? null : (now.idleMs - this.#from.idleMs) / elapsedMs;
  }
}

function cpuTime(): CpuTime {
  const all = cpus();
  const sum = (of: (times: ReturnType<typeof cpus>[number]["times"]) => number) =>
    all.reduce((total, { times }) => total + of(times), 0);
  return {
    idleMs: sum(({ idle }) => idle),
    totalMs: sum(({ user, nice, sys, idle, irq }) => user + nice + sys + idle + irq),
    cores: Math.max(1, all.length),
  };
}
