/** A process that is sent signals, as far as it is needed here. */
export interface Signalled {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  removeListener(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  /** Ends the process by that signal, whoever else listens for it. */
  endBy(signal: StopSignal): void;
  nowMs(): number;
}

export type StopSignal = (typeof STOP_SIGNALS)[number];

const STOP_SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** Signals that come closer together than this are one. */
export const SAME_SIGNAL_MS = 1_000;

/**
 * Calls `stop` at the first SIGINT or SIGTERM. A later one ends the process as it would without us, but not one that
 * comes with the first: npm passes on the Ctrl-C that the terminal has already sent to everybody, so that it comes twice.
 * The listeners stay until the function that is returned is called: a package that llama.cpp brings ends the process at
 * a signal for which nobody else listens.
 *
 * @param hurry is asked first at a later one, and returns whether there was something that it could cut short: then the
 * process is left to stop as it was going to
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
