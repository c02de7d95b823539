import type { RunQueued } from "../../core/run-queued.ts";

/** Returns the network with its graph-running functions `runs` queued by `inTurn`. */
export function yieldingNetwork<N extends object>(
  network: N,
  runs: readonly (keyof N)[],
  inTurn: RunQueued,
): N {
  const yielding = runs.map((name) => {
    const run = network[name] as (...inputs: unknown[]) => Promise<unknown>;
    return [name, (...inputs: unknown[]) => inTurn(() => run.apply(network, inputs))] as const;
  });
  return { ...network, ...Object.fromEntries(yielding) };
}

/** Returns the network with the named functions throwing the signal's reason once it has aborted. */
export function abortableNetwork<N extends object>(
  network: N,
  runs: readonly (keyof N)[],
  signal: AbortSignal,
): N {
  return yieldingNetwork(network, runs, async (run) => {
    signal.throwIfAborted();
    return run();
  });
}
