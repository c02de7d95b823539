import type { FrameBatch } from "./frame-batch.ts";
import type { SpokenFrame, Stop } from "./model.ts";
import type { Voicing } from "./seat.ts";

/** An utterance's frames, each computed when it is asked for, with those of all others that are open. */
export async function* spokenFrames(
  batch: FrameBatch,
  voicing: Voicing,
  signal: AbortSignal,
): AsyncGenerator<SpokenFrame, Stop, void> {
  const member = batch.join(voicing, signal);
  try {
    for (;;) {
      const step = await member.next();
      if (typeof step === "string") return step;
      yield step;
    }
  } finally {
    member.leave();
  }
}
