import { cpus, totalmem } from "node:os";

/** The machine in one line: processor, cores, memory, system, Node. */
export function describeMachine(): string {
  const processors = cpus();
  const memoryGb = Math.round(totalmem() / 2 ** 30);
  return (
    `${processors[0]?.model.trim() ?? "unknown processor"}, ${processors.length} cores, ${memoryGb} GiB, ` +
    `${process.platform} ${process.arch}, Node ${process.version}`
  );
}
