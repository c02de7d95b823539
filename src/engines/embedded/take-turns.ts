import type { RunQueued } from "../../core/run-queued.ts";
import type { Network } from "./network.ts";

/** A network that begins no further run once the signal has aborted. */
export function abortableNetwork(network: Network, signal: AbortSignal): Network {
  return yieldingNetwork(network, async (run) => {
    signal.throwIfAborted();
    return run();
  });
}

/** The network as one utterance sees it: it waits its turn before every run. */
export function yieldingNetwork(network: Network, pass: RunQueued): Network {
  return {
    read: (ids) => pass(() => network.read(ids)),
    intone: (columns) => pass(() => network.intone(columns)),
    takeMemory: () => network.takeMemory(),
    giveBack: (memory) => network.giveBack(memory),
    decode: (piece, memory) => pass(() => network.decode(piece, memory)),
  };
}
