import type { FrameBatch } from "./frame-batch.ts";
import type { SpokenFrame, Stop } from "./model.ts";
import type { SequenceState } from "./sequence.ts";

/** An utterance's frames, each computed when it is asked for, with those of all others that are open. */
export async function* spokenFrames(
  batch: FrameBatch,
  state: SequenceState,
  signal: AbortSignal,
): AsyncGenerator<SpokenFrame, Stop, void> {
  const sequence = batch.join(state, signal);
  try {
    for (;;) {
      const step = await sequence.next();
      if (typeof step === "string") return step;
      yield step;
    }
  } finally {
    sequence.leave();
  }
}
