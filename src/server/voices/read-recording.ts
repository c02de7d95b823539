import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { AudioFormatError } from "../../audio/audio-format-error.ts";
import { encodeWav } from "../../audio/encode-wav.ts";
import { toPcm16 } from "../../audio/pcm.ts";
import { RecordingTooLongError } from "../../audio/recordings/recording.ts";
import { openSound } from "../../audio/recordings/recording-sound.ts";
import { abortable } from "../../core/abortable.ts";
import type { AudioSource } from "../../core/audio-source.ts";
import { UsageError } from "../errors.ts";

/** Of a longer one nobody waits for the end. */
const MAX_HOURS = 4;
/** Seconds of a recording that is heard without a server. */
export const MAX_RECORDED_S = MAX_HOURS * 3_600;

/**
 * Reads a recording, whose kind its first bytes tell, from a file, or from standard input where it is `-`. It is decoded as
 * it is heard.
 *
 * @throws UsageError when it cannot be, and so does reading the sound; the signal's reason.
 */
export async function readRecording(
  file: string,
  signal: AbortSignal,
  stdin: NodeJS.ReadableStream = process.stdin,
): Promise<AudioSource> {
  const name = file === "-" ? "What comes on standard input" : `The file ${file}`;
  const bytes = file === "-" ? await abortable(buffer(stdin), signal) : await bytesOf(file, name, signal);
  const told = (error: unknown): unknown => asWrongCall(error, name);
  try {
    const sound = openSound(bytes, MAX_RECORDED_S);
    const { sampleRateHz, boundS } = sound;
    const read: AudioSource["read"] = async (count, reading) => {
      return await sound.read(count, reading).catch((error: unknown) => {
        throw told(error);
      });
    };
    return { sampleRateHz, boundS, read };
  } catch (error) {
    throw told(error);
  }
}

function asWrongCall(error: unknown, name: string): unknown {
  if (error instanceof RecordingTooLongError)
    return new UsageError(`${name} is longer than ${MAX_HOURS} hours: cut it into pieces.`);
  if (!(error instanceof AudioFormatError)) return error;
  const remedy = error.remedy === null ? "" : `: ${error.remedy.replace(/^send/, "give")}`;
  return new UsageError(`${name} cannot be heard: ${error.problem}${remedy}.`, { cause: error });
}

async function bytesOf(file: string, name: string, signal: AbortSignal): Promise<Buffer> {
  return await readFile(file, { signal }).catch((error: NodeJS.ErrnoException) => {
    signal.throwIfAborted();
    throw new UsageError(
      `${name} cannot be read (${error.code}): name a recording, or - for standard input.`,
    );
  });
}

/** Seconds of a recording that a voice is followed by, at most. */
const MAX_FOLLOWED_S = 90;

/** The beginning of any kind of recording that `transcribe` hears as a WAV; null where it is none. */
export async function asWav(bytes: Buffer): Promise<Buffer | null> {
  try {
    const sound = openSound(bytes, MAX_RECORDED_S);
    const samples = await sound.read(MAX_FOLLOWED_S * sound.sampleRateHz, new AbortController().signal);
    return Buffer.from(encodeWav(toPcm16(samples), sound.sampleRateHz));
  } catch (error) {
    if (error instanceof AudioFormatError) return null;
    throw error;
  }
}
