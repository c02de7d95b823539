import { AudioFormatError } from "../audio-format-error.ts";
import type { DecodingBudget } from "./decoding-budget.ts";
import { openFlac } from "./flac.ts";
import { openMp3 } from "./mp3.ts";
import { openOgg } from "./ogg.ts";
import type { RecordingDecoder } from "./recording.ts";
import { type RecordingKind, recordingKind } from "./recording-kind.ts";
import { openWav } from "./wav.ts";
import { openWebm } from "./webm.ts";

type Opens = (bytes: Uint8Array, budget: DecodingBudget) => RecordingDecoder;

const OPENERS: Readonly<Record<RecordingKind, Opens>> = {
  wav: openWav,
  mp3: openMp3,
  flac: openFlac,
  ogg: openOgg,
  webm: openWebm,
};

const READABLE = "send WAV, MP3, FLAC, or Opus in Ogg or WebM";
const WHOLE = "send a whole and undamaged file of WAV, MP3, FLAC, or Opus in Ogg or WebM";

/**
 * Looks a file over, whose kind its first bytes tell: its head, and where the container says it its length and whether it
 * is whole. Nothing is decoded. Throws {@link AudioFormatError} or `RecordingTooLongError`.
 */
export function openRecording(bytes: Uint8Array, budget: DecodingBudget): RecordingDecoder {
  if (bytes.length === 0) throw new AudioFormatError("it is empty", WHOLE);
  const kind = recordingKind(bytes);
  if (kind === null) throw new AudioFormatError("it is not a recording that can be read", READABLE);
  if ("refused" in kind) throw new AudioFormatError(`it is ${kind.refused}, which cannot be read`, READABLE);
  return OPENERS[kind.kind](bytes.subarray(kind.start, kind.end), budget);
}

/** Says what to do about a file of which only the problem is known: it is damaged. Other errors stay as they are. */
export function withRemedy(error: unknown): unknown {
  const isBare = error instanceof AudioFormatError && error.remedy === null;
  return isBare ? new AudioFormatError(error.problem, WHOLE) : error;
}
