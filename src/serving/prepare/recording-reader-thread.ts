import { AudioFormatError } from "../../audio/audio-format-error.ts";
import type { PcmFormat } from "../../audio/pcm-format.ts";
import { RecordingTooLongError } from "../../audio/recordings/recording.ts";
import { openPcmSound, openSound, type RecordingSound } from "../../audio/recordings/recording-sound.ts";
import { freeMemory } from "../../core/free-memory.ts";
import { answerCalls } from "../../workers/calls/answer-calls.ts";

export type RecordingInfo = Pick<RecordingSound, "sampleRateHz" | "boundS">;

/**
 * Failure as sent across threads: a refusal (text that follows the recording's name), `lost` for an unknown
 * recording, or the error's text.
 */
export type ReadingFailure =
  | { readonly refusal: string }
  | { readonly lost: true }
  | { readonly failed: string };

interface Open {
  readonly sound: RecordingSound;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const recordings = new Map<number, Open>();

class LostError extends Error {}

answerCalls(
  {
    open(id: number, bytes: Uint8Array<ArrayBuffer>, maxS: number, format: PcmFormat | null): RecordingInfo {
      try {
        const sound = format === null ? openSound(bytes, maxS) : openPcmSound(bytes, format, maxS);
        recordings.set(id, { sound, bytes });
        return { sampleRateHz: sound.sampleRateHz, boundS: sound.boundS };
      } catch (error) {
        freeMemory(bytes.buffer);
        throw error;
      }
    },
    async read(id: number, count: number): Promise<Float32Array> {
      const open = recordings.get(id);
      if (open === undefined) throw new LostError();
      return await open.sound.read(count);
    },
    async close(id: number): Promise<void> {
      const open = recordings.get(id);
      if (open === undefined) return;
      recordings.delete(id);
      await open.sound.close();
      freeMemory(open.bytes.buffer);
    },
  },
  (error): ReadingFailure => {
    if (error instanceof AudioFormatError) return { refusal: `: ${error.message}` };
    if (error instanceof RecordingTooLongError) {
      const max = `${error.maxS} s, the maximum of one request`;
      return { refusal: ` is longer than ${max}: send it in pieces` };
    }
    if (error instanceof LostError) return { lost: true };
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  },
  (value) => (value instanceof Float32Array ? [value.buffer as ArrayBuffer] : []),
);
