import type { Clip } from "../../core/conversation.ts";
import type { RecordingReader } from "../../serving/prepare/recording-reader.ts";
import { keptClip } from "../../serving/voices/create-voice.ts";

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
