import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { AudioFormatError } from "../audio/audio-format-error.ts";
import { decodeRecording } from "../audio/recordings/decode-recording.ts";
import { RecordingTooLongError } from "../audio/recordings/recording.ts";
import { abortable } from "../model/abortable.ts";
import type { Clip } from "../model/conversation.ts";
import { WrongCallError } from "./global-options.ts";

/** Of a longer one the samples alone would take gigabytes. */
const MOST_HOURS = 4;

/**
 * Reads and decodes a recording, whose kind its first bytes tell, from a file, or from standard input where it is `-`.
 *
 * @throws WrongCallError when it cannot be; the signal's reason.
 */
export async function readRecording(file: string, signal: AbortSignal): Promise<Clip> {
  const name = file === "-" ? "What comes on standard input" : `The file ${file}`;
  const bytes = await bytesOf(file, name, signal);
  try {
    const recording = await decodeRecording(bytes, MOST_HOURS * 3_600);
    return { ...recording, digest: createHash("sha256").update(bytes).digest("base64"), isGivenAway: true };
  } catch (error) {
    if (error instanceof RecordingTooLongError)
      throw new WrongCallError(`${name} is longer than ${MOST_HOURS} hours: cut it into pieces.`);
    if (!(error instanceof AudioFormatError)) throw error;
    const remedy = error.remedy === null ? "" : `: ${error.remedy.replace(/^send/, "give")}`;
    throw new WrongCallError(`${name} cannot be heard: ${error.problem}${remedy}.`, { cause: error });
  }
}

async function bytesOf(file: string, name: string, signal: AbortSignal): Promise<Buffer> {
  if (file === "-") return await abortable(buffer(process.stdin), signal);
  return await readFile(file, { signal }).catch((error: NodeJS.ErrnoException) => {
    signal.throwIfAborted();
    throw new WrongCallError(
      `${name} cannot be read (${error.code}): name a recording, or - for standard input.`,
    );
  });
}
