import type { Clip } from "../../core/conversation.ts";
import type { ClipJudgement } from "../../serving/voices/create-voice.ts";

/**
 * Listens to a clip as the embedded voice does before it follows one, some milliseconds at a time in the calling thread: a
 * few tenths of a second in all. Throws the signal's reason.
 */
export async function judgeClip(clip: Clip, signal: AbortSignal): Promise<ClipJudgement> {
  const { listen } = await import("../../engines/following/analysis/voice-profile.ts");
  const { pooled } = await import("../../engines/following/analysis/pooled.ts");
  const { workedOff } = await import("../../engines/following/analysis/work.ts");
  const profile = await workedOff(listen(clip), signal);
  const { trust, cautions } = (pooled([profile]) ?? profile).suitability;
  return { trust, cautions };
}
