import { SpeechFailedError } from "../../model/speech-model.ts";
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

/**
 * The network as one utterance sees it: it waits its turn before every run, urgently until it has been heard, and
 * stops when the signal aborts. What goes wrong in a run is a {@link SpeechFailedError}.
 */
export function yieldingNetwork(
  network: Network,
  mutex: PriorityMutex,
  signal: AbortSignal,
  isUrgent: () => boolean,
): Network {
  return withEachRun(network, async (run) => {
    const result = await mutex.pass(() => run().catch(failed), signal, isUrgent());
    signal.throwIfAborted();
    return result;
  });
}

/** A network that begins no further run once the signal has aborted. */
export function abortableNetwork(network: Network, signal: AbortSignal): Network {
  return withEachRun(network, async (run) => {
    signal.throwIfAborted();
    return run();
  });
}

function withEachRun(network: Network, pass: <T>(run: () => Promise<T>) => Promise<T>): Network {
  return {
    read: (ids) => pass(() => network.read(ids)),
    intone: (columns) => pass(() => network.intone(columns)),
    decode: (piece, memory) => pass(() => network.decode(piece, memory)),
  };
}

function failed(cause: unknown): never {
  throw new SpeechFailedError("The voice's network failed: try again.", { cause });
}
