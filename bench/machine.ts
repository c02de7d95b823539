import { cpus, loadavg, totalmem } from "node:os";

/** The machine in one line: processor, cores, memory, system, Node. */
export function describeMachine(): string {
  const processors = cpus();
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  return (
    `${processors[0]?.model.trim() ?? "unknown processor"}, ${processors.length} cores, ${memoryGb} GiB, ` +
    `${process.platform} ${process.arch}, Node ${process.version}`
  );
}

/** What else the machine is busy with, if that would spoil a measurement; else null. Ask before measuring. */
export function describeBusyness(): string | null {
  const load = loadavg()[0] ?? 0;
  return load < 0.25 * cpus().length ? null : `load average ${load.toFixed(1)} before the run`;
}
