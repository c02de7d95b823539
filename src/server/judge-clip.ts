import { setImmediate as letOthersRun } from "node:timers/promises";
import type { Clip } from "../model/conversation.ts";
import type { ClipJudgement } from "../serving/make-voice.ts";

/**
 * Listens to a clip as the embedded voice does before it follows one, some milliseconds at a time in the calling thread: a
 * few tenths of a second in all. Throws the signal's reason.
 */
export async function judgeClip(clip: Clip, signal: AbortSignal): Promise<ClipJudgement> {
  const { listen } = await import("../planning/listen/voice-profile.ts");
  const { pooled } = await import("../planning/listen/pooled.ts");
  const work = listen(clip);
  for (;;) {
    signal.throwIfAborted();
    const step = work.next();
    if (step.done) {
      const { suitability } = pooled([step.value]) ?? step.value;
      return { trust: suitability.trust, cautions: suitability.cautions };
    }
    await letOthersRun();
  }
}
