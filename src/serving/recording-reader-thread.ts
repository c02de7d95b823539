import { AudioFormatError } from "../audio/audio-format-error.ts";
import { RecordingTooLongError } from "../audio/recordings/recording.ts";
import { openSound, type RecordingSound } from "../audio/recordings/recording-sound.ts";
import type { PcmFormat } from "../audio/recordings/wav.ts";
import { answerCalls } from "../threads/answer-calls.ts";

/** What is known of a recording before it is decoded. */
export type LookedOver = Pick<RecordingSound, "sampleRateHz" | "boundS">;

/**
 * How a failure is sent across threads: a refusal as what is wrong, to be put behind the recording's name; a recording that
 * this thread does not have as `lost`; anything else as its text.
 */
export type ReadingFailure =
  | { readonly refusal: string }
  | { readonly lost: true }
  | { readonly failed: string };

const sounds = new Map<number, RecordingSound>();

class LostError extends Error {}

answerCalls(
  {
    open(id: number, bytes: Uint8Array, maxS: number, format: PcmFormat | null): LookedOver {
      const sound = openSound(bytes, maxS, format);
      sounds.set(id, sound);
      return { sampleRateHz: sound.sampleRateHz, boundS: sound.boundS };
    },
    async read(id: number, count: number): Promise<Float32Array> {
      const sound = sounds.get(id);
      if (sound === undefined) throw new LostError();
      return await sound.read(count);
    },
    async close(id: number): Promise<void> {
      const sound = sounds.get(id);
      sounds.delete(id);
      await sound?.close();
    },
  },
  (error): ReadingFailure => {
    if (error instanceof AudioFormatError) return { refusal: `: ${error.message}` };
    if (error instanceof RecordingTooLongError) {
      const most = `${error.maxS} s, the most that is heard in one request`;
      return { refusal: ` is longer than ${most}: send it in pieces` };
    }
    if (error instanceof LostError) return { lost: true };
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  },
  (value) => (value instanceof Float32Array ? [value.buffer as ArrayBuffer] : []),
);
