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

/** Longer recordings are cut. */
const MAX_HOURS = 4;
/** Maximum seconds of a recording without a server. */
export const MAX_RECORDED_S = MAX_HOURS * 3_600;

/**
 * Opens a recording from a file, or from standard input for `-`, and detects its format. It is decoded as it is read.
 *
 * @throws UsageError if it cannot be read or decoded, also when reading the audio; the signal's reason
 */
export async function readRecording(
  file: string,
  signal: AbortSignal,
  stdin: NodeJS.ReadableStream = process.stdin,
): Promise<AudioSource> {
  const name = file === "-" ? "What comes on standard input" : `The file ${file}`;
  const bytes = file === "-" ? await abortable(buffer(stdin), signal) : await bytesOf(file, name, signal);
  try {
    const sound = openSound(bytes, MAX_RECORDED_S);
    const { sampleRateHz, boundS } = sound;
    const read: AudioSource["read"] = async (count, reading) => {
      return await sound.read(count, reading).catch((error: unknown) => {
        throw asWrongCall(error, name);
      });
    };
    return { sampleRateHz, boundS, read };
  } catch (error) {
    throw asWrongCall(error, name);
  }
}

function asWrongCall(error: unknown, name: string): unknown {
  if (error instanceof RecordingTooLongError)
    return new UsageError(`${name} is longer than ${MAX_HOURS} hours: cut it into pieces.`);
  if (!(error instanceof AudioFormatError)) return error;
  const remedy = error.remedy === null ? "" : `: ${error.remedy.replace(/^send/, "give")}`;
  return new UsageError(`${name} cannot be decoded: ${error.problem}${remedy}.`, { cause: error });
}

async function bytesOf(file: string, name: string, signal: AbortSignal): Promise<Buffer> {
  return await readFile(file, { signal }).catch((error: NodeJS.ErrnoException) => {
    signal.throwIfAborted();
    throw new UsageError(
      `${name} cannot be read (${error.code}): name a recording, or - for standard input.`,
    );
  });
}

/** Maximum seconds of a clip that a voice follows. */
const MAX_FOLLOWED_S = 90;

/** Returns the beginning of a recording as WAV; `null` if the format is unknown. */
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
