import type { InTurn } from "../../planning/planned-speech.ts";
import type { PriorityMutex } from "../../planning/priority-mutex.ts";
import type { Work } from "./listen/work.ts";
import type { Network } from "./network.ts";

/** Does work piece by piece, each when its turn comes, so that those who speak go first. @throws the signal's reason */
export async function runInTurns<T>(work: Work<T>, mutex: PriorityMutex, signal: AbortSignal): Promise<T> {
  for (;;) {
    const step = await mutex.pass(async () => work.next(), signal, false);
    if (step.done) return step.value;
    // The event loop goes round once: who has come in meanwhile is seen.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A network that begins no further run once the signal has aborted. */
export function abortableNetwork(network: Network, signal: AbortSignal): Network {
  return yieldingNetwork(network, async (run) => {
    signal.throwIfAborted();
    return run();
  });
}

/** The network as one utterance sees it: it waits its turn before every run. */
export function yieldingNetwork(network: Network, pass: InTurn): Network {
  return {
    read: (ids) => pass(() => network.read(ids)),
    intone: (columns) => pass(() => network.intone(columns)),
    decode: (piece, memory) => pass(() => network.decode(piece, memory)),
  };
}
