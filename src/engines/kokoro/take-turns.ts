import type { RunQueued } from "../../core/run-queued.ts";
import type { KokoroNetwork } from "./network.ts";

/** The network as one utterance sees it: it waits its turn before every run. */
export function yieldingKokoro(
  network: Omit<KokoroNetwork, "close">,
  inTurn: RunQueued,
): Omit<KokoroNetwork, "close"> {
  return {
    read: (ids, style) => inTurn(() => network.read(ids, style)),
    intone: (columns, style) => inTurn(() => network.intone(columns, style)),
    source: (pitchHz) => inTurn(() => network.source(pitchHz)),
    decode: (piece, voice, memory) => inTurn(() => network.decode(piece, voice, memory)),
  };
}
