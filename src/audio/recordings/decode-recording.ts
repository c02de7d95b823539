import { AudioFormatError } from "../audio-format-error.ts";
import { decodeWav } from "../wav-read.ts";
import { decodeFlac } from "./flac.ts";
import { decodeMp3 } from "./mp3.ts";
import { decodeOgg } from "./ogg.ts";
import { type Recording, RecordingTooLongError } from "./recording.ts";
import { type RecordingKind, recordingKind } from "./recording-kind.ts";
import { decodeWebm } from "./webm.ts";

/**
 * Decodes a recording, whose kind its first bytes tell. Throws {@link AudioFormatError} for what is damaged, empty or of
 * another kind, with what to do, and {@link RecordingTooLongError} beyond `mostS`, for which no more is decoded than that.
 */
export async function decodeRecording(bytes: Uint8Array, mostS: number): Promise<Recording> {
  if (bytes.length === 0) throw new AudioFormatError("it is empty", WHOLE);
  const kind = recordingKind(bytes);
  if (kind === null) throw new AudioFormatError("it is not a recording that can be read", READABLE);
  if ("refused" in kind) throw new AudioFormatError(`it is ${kind.refused}, which cannot be read`, READABLE);
  try {
    return await DECODERS[kind.kind](bytes.subarray(kind.start), mostS);
  } catch (error) {
    if (!(error instanceof AudioFormatError) || error.remedy !== null) throw error;
    throw new AudioFormatError(error.problem, WHOLE);
  }
}

const READABLE = "send WAV, MP3, FLAC, or Opus in Ogg or WebM";
const WHOLE = "send a whole and undamaged file of WAV, MP3, FLAC, or Opus in Ogg or WebM";

const DECODERS: Readonly<Record<RecordingKind, (bytes: Uint8Array, mostS: number) => Promise<Recording>>> = {
  wav: async (bytes, mostS) => decodeWavRecording(bytes, mostS),
  mp3: decodeMp3,
  flac: decodeFlac,
  ogg: decodeOgg,
  webm: decodeWebm,
};

function decodeWavRecording(bytes: Uint8Array, mostS: number): Recording {
  const { samples, sampleRateHz, durationS } = decodeWav(bytes);
  if (durationS > mostS) throw new RecordingTooLongError(mostS);
  return { samples: samples as Float32Array<ArrayBuffer>, sampleRateHz, durationS };
}
