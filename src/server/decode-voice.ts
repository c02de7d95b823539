import { SAMPLE_RATE_HZ } from "../audio/format.ts";
import { SAMPLE_S } from "../contract/voice-form.ts";
import type { Clip } from "../model/conversation.ts";
import type { RecordingReader } from "../serving/recording-reader.ts";

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
    const read = await sound.read(SAMPLE_S.max * SAMPLE_RATE_HZ, signal);
    // In a buffer of its own length: what was read may lie in a larger one.
    const samples = read.slice();
    const durationS = samples.length / sound.sampleRateHz;
    return { samples, sampleRateHz: sound.sampleRateHz, durationS, digest: `voice:${voiceId}` };
  } finally {
    sound.release();
  }
}
