import type { Clip } from "../../core/conversation.ts";
import type { RecordingReader } from "../../serving/prepare/recording-reader.ts";
import { type ClipJudgement, keptClip } from "../../serving/voices/create-voice.ts";

/**
 * Decodes a voice's recording as it was kept: FLAC, 24 kHz. Its buffer is gone afterwards. Several may wait for it, so it goes
 * on when one of them leaves.
 */
export async function decodeVoice(
  recordings: RecordingReader,
  audio: Uint8Array<ArrayBuffer>,
  voiceId: string,
): Promise<Clip> {
  const { signal } = new AbortController();
  const sound = await recordings.open(audio, signal);
  try {
    return await keptClip(sound, voiceId, signal);
  } finally {
    sound.release();
  }
}

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
