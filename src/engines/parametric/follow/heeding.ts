import type { Work } from "../listen/work.ts";
import type { Network } from "../network.ts";

/** Work that goes no further once the signal has aborted. */
export function* heedingWork<T>(work: Work<T>, signal: AbortSignal): Work<T> {
  for (;;) {
    signal.throwIfAborted();
    const step = work.next();
    if (step.done) return step.value;
    yield;
  }
}

/** A network that begins no further run once the signal has aborted. */
export function heedingNetwork(network: Network, signal: AbortSignal): Network {
  const heeding = async <T>(run: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    return run();
  };
  return {
    read: (ids) => heeding(() => network.read(ids)),
    intone: (columns) => heeding(() => network.intone(columns)),
    decode: (piece, memory) => heeding(() => network.decode(piece, memory)),
  };
}
