import type { Clip } from "../../core/conversation.ts";
import type { RecordingReader } from "../../serving/prepare/recording-reader.ts";
import { type ClipJudgement, readStoredClip } from "../../serving/voices/create-voice.ts";

/**
 * Decodes a stored voice's recording (FLAC, 24 kHz) and consumes its buffer. Not abortable, since several requests
 * may wait for it.
 */
export async function decodeVoice(
  recordings: RecordingReader,
  audio: Uint8Array<ArrayBuffer>,
  voiceId: string,
): Promise<Clip> {
  const { signal } = new AbortController();
  const sound = await recordings.open(audio, signal);
  try {
    return await readStoredClip(sound, voiceId, signal);
  } finally {
    sound.release();
  }
}

/**
 * Analyses a clip as the embedded voice does before following it: a few tenths of a second in all, in steps of some
 * milliseconds. Throws the signal's reason.
 */
export async function judgeClip(clip: Clip, signal: AbortSignal): Promise<ClipJudgement> {
  const { analyseClip, mergeProfiles } = await import("../../engines/following/analysis/voice-profile.ts");
  const { runToEnd } = await import("../../engines/following/analysis/work.ts");
  const profile = await runToEnd(analyseClip(clip), signal);
  const { trust, cautions } = (mergeProfiles([profile]) ?? profile).suitability;
  return { trust, cautions };
}
