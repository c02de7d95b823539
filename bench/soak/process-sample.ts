import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { processorMs } from "../resident.ts";

export type ProcessSample = ReturnType<typeof sampleProcess>;

/** A terminated thread leaves its file. A thread that computes for long writes late. */
const MAX_AGE_MS = 60_000;

/** @param folder where `thread-memory.ts` writes @throws Error if the process has ended */
export function sampleProcess(pid: number, folder: string) {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const mb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 1_024;
  /** MiB of each thread that runs JavaScript: heap used, heap reserved, external, array buffers in it. */
  const threads: Record<string, readonly number[]> = {};
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`${pid}-`) || !name.endsWith(".json")) continue;
    const { thread, atMs, ...own } = JSON.parse(readFileSync(join(folder, name), "utf8"));
    const bytes: number[] = [own.heapUsed, own.heapTotal, own.external, own.arrayBuffers];
    if (Date.now() - atMs < MAX_AGE_MS) threads[thread] = bytes.map((each) => each / 2 ** 20);
  }
  const sum = (at: number) => Object.values(threads).reduce((total, own) => total + own[at]!, 0);
  const rssMb = mb("VmRSS");
  /** Resident pages of files, such as programs and libraries. */
  const filesMb = mb("RssFile") + mb("RssShmem");
  /** Outside the heaps; pages of WebAssembly count even if they were never touched. */
  const [heapsMb, externalMb] = [sum(1), sum(2)];
  return {
    ...{ rssMb, filesMb, heapsMb, externalMb, nativeMb: rssMb - filesMb - heapsMb - externalMb },
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    systemThreads: readdirSync(`/proc/${pid}/task`).length,
    processorMs: processorMs(pid),
    threads,
  };
}
