import type { Clip } from "../model/conversation.ts";
import type { ClipJudgement } from "../serving/voice-clip.ts";

/**
 * Listens to a clip as the embedded voice does before it follows one, some milliseconds at a time in the calling thread: a
 * few tenths of a second in all. Throws the signal's reason.
 */
export async function judgeClip(clip: Clip, signal: AbortSignal): Promise<ClipJudgement> {
  const { listen } = await import("../planning/listen/voice-profile.ts");
  const { pooled } = await import("../planning/listen/pooled.ts");
  const { workedOff } = await import("../planning/listen/work.ts");
  const profile = await workedOff(listen(clip), signal);
  const { trust, cautions } = (pooled([profile]) ?? profile).suitability;
  return { trust, cautions };
}
