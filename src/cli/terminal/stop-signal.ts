/** The process that receives the signals. Tests pass their own. */
export interface Signalled {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  removeListener(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  /** Ends the process by that signal, in spite of all listeners. */
  endBy(signal: StopSignal): void;
  nowMs(): number;
}

type StopSignal = (typeof STOP_SIGNALS)[number];

const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Signals closer together than this count as one. */
export const SAME_SIGNAL_MS = 1_000;

/**
 * Calls `stop` at the first SIGINT or SIGTERM. A later one ends the process, unless it follows the first at once: npm
 * passes on a Ctrl-C that the terminal has already sent to the whole process group. Returns a function that removes the
 * listeners. They stay until then, because a dependency of llama.cpp ends the process at a signal without other listeners.
 *
 * @param hurry called first at a later signal; if it returns true it has cut something short, and the process is left to stop
 */
export function onStopSignal(
  stop: (signal: StopSignal) => void,
  hurry: () => boolean = () => false,
  signalled: Signalled = thisProcess,
): () => void {
  let lastMs: number | null = null;
  const listener = (signal: StopSignal): void => {
    const nowMs = signalled.nowMs();
    if (lastMs !== null && nowMs - lastMs < SAME_SIGNAL_MS) return;
    const isFirst = lastMs === null;
    lastMs = nowMs;
    if (isFirst) stop(signal);
    else if (!hurry()) signalled.endBy(signal);
  };
  for (const signal of STOP_SIGNALS) signalled.on(signal, listener);
  return () => {
    for (const signal of STOP_SIGNALS) signalled.removeListener(signal, listener);
  };
}

const thisProcess: Signalled = {
  on: (signal, listener) => process.on(signal, listener as NodeJS.SignalsListener),
  removeListener: (signal, listener) => process.removeListener(signal, listener as NodeJS.SignalsListener),
  endBy(signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  },
  nowMs: () => performance.now(),
};

/** Runs work that an interrupt aborts. After its clean-up the process ends by the signal, as any program does. */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const abort = new AbortController();
  let caught: StopSignal | null = null;
  const release = onStopSignal((signal) => {
    caught = signal;
    abort.abort(new Error("interrupted"));
  });
  try {
    await work(abort.signal);
  } catch (error) {
    if (caught === null) throw error;
  } finally {
    release();
  }
  if (caught !== null) process.kill(process.pid, caught);
}
