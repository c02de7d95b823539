import { SpeechFailedError } from "../../model/speech-model.ts";
import type { PriorityMutex } from "../../planning/priority-mutex.ts";
import type { KokoroNetwork } from "./network.ts";

/**
 * The network as one utterance sees it: it waits its turn before every run, urgently until it has been heard, and stops
 * when the signal aborts. What goes wrong in a run is a {@link SpeechFailedError}.
 */
export function yieldingKokoro(
  network: KokoroNetwork,
  mutex: PriorityMutex,
  signal: AbortSignal,
  isUrgent: () => boolean,
): Omit<KokoroNetwork, "close"> {
  const pass = async <T>(run: () => Promise<T>): Promise<T> => {
    const result = await mutex.pass(() => run().catch(failed), signal, isUrgent());
    signal.throwIfAborted();
    return result;
  };
  return {
    read: (ids, style) => pass(() => network.read(ids, style)),
    intone: (columns, style) => pass(() => network.intone(columns, style)),
    source: (pitchHz) => pass(() => network.source(pitchHz)),
    decode: (piece, voice, memory) => pass(() => network.decode(piece, voice, memory)),
  };
}

function failed(cause: unknown): never {
  throw new SpeechFailedError("Kokoro's network failed: try again.", { cause });
}
