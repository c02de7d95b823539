import { onStopSignal, type StopSignal } from "./stop-signal.ts";

/** What a command watches for an interrupt by. */
export interface Interruption {
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  /** Which came, if any: the command ends itself by it once it has put everything away. */
  caught(): StopSignal | null;
  /** Listens no more. */
  release(): void;
}

export function interruption(): Interruption {
  const abort = new AbortController();
  let name: StopSignal | null = null;
  const release = onStopSignal((signalName) => {
    name = signalName;
    abort.abort(new Error("interrupted"));
  });
  return { signal: abort.signal, caught: () => name, release };
}

/** An interrupt ends the work as it ends any program, after it has put itself away. */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const { signal, caught, release } = interruption();
  try {
    await work(signal);
  } catch (error) {
    if (caught() === null) throw error;
  } finally {
    release();
  }
  const signalName = caught();
  if (signalName !== null) process.kill(process.pid, signalName);
}
