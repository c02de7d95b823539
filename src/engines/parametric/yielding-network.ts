import { SpeechFailedError } from "../../model/speech-model.ts";
import type { Network } from "./network.ts";
import type { Turnstile } from "./turnstile.ts";

/**
 * The network as one utterance sees it: it waits its turn before every run, urgently until it has been heard, and
 * stops when the signal aborts. What goes wrong in a run is a {@link SpeechFailedError}.
 */
export function yieldingNetwork(
  network: Network,
  turnstile: Turnstile,
  signal: AbortSignal,
  isUrgent: () => boolean,
): Network {
  const pass = async <T>(run: () => Promise<T>): Promise<T> => {
    const result = await turnstile.pass(() => run().catch(failed), signal, isUrgent());
    signal.throwIfAborted();
    return result;
  };
  return {
    read: (ids) => pass(() => network.read(ids)),
    intone: (columns) => pass(() => network.intone(columns)),
    decode: (piece, memory) => pass(() => network.decode(piece, memory)),
  };
}

function failed(cause: unknown): never {
  throw new SpeechFailedError("The voice's network failed: try again.", { cause });
}
