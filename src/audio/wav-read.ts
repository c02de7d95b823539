import { AudioFormatError } from "./audio-format-error.ts";
import { frameBytes, mixDown, type PcmFormat } from "./pcm-format.ts";
import { readWavFormat } from "./wav-format.ts";

/** A WAV file, decoded and mixed down. */
export interface WavClip {
  readonly sampleRateHz: number;
  /** Channels in the file; `samples` has one. */
  readonly channels: number;
  /** Sample frames in the file: one sample of each channel. */
  readonly frames: number;
  /** `frames / sampleRateHz`. */
  readonly durationS: number;
  /** Mono, in [-1, 1], at the file's own rate: the mean of the channels. */
  readonly samples: Float32Array;
}

/**
 * Reads a RIFF/WAVE file: PCM of 8, 16, 24 or 32 bits and float of 32 or 64, plain or extensible, any number of
 * channels, with other chunks anywhere. A data size of 0 or 0xFFFFFFFF, which writers that could not seek back leave
 * behind, means that the samples run to the end of the file; the RIFF size is not trusted at all. Bytes after the
 * last whole frame are dropped.
 *
 * Memory is at most four times the file's, whatever its header claims. Throws {@link AudioFormatError} for anything
 * else: other encodings, truncated, without samples, or with a sample that is no finite number.
 *
 * @param maxSamples of a longer clip only the beginning is decoded; its `frames` and `durationS` are those of all of it
 */
export function decodeWav(bytes: Uint8Array, maxSamples = Number.POSITIVE_INFINITY): WavClip {
  const { format, samples } = openWavFile(bytes, { isRecording: false });
  const { sampleRateHz, channels } = format;
  const frames = Math.floor(samples.length / frameBytes(format));
  return {
    sampleRateHz,
    channels,
    frames,
    durationS: frames / sampleRateHz,
    samples: mixDown(samples, format, Math.min(frames, maxSamples)),
  };
}

export interface WavOpening {
  /**
   * Whether it is a recording, of which more is read than {@link decodeWav} does: A-law and µ-law, and the sizes near 2 or
   * 4 GiB that some writers leave behind which could not seek back.
   */
  readonly isRecording: boolean;
  /** Told before each chunk is looked at. */
  readonly onChunk?: () => void;
}

/** Samples as they lie in a file, one of each channel at least. */
interface WavSamples {
  readonly format: PcmFormat;
  readonly samples: Uint8Array;
}

/** Finds the samples of a file and decodes nothing. Throws as {@link decodeWav} does. */
export function openWavFile(bytes: Uint8Array, { isRecording, onChunk = () => {} }: WavOpening): WavSamples {
  const file = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  checkContainer(file);
  const found = findSamples(file, isRecording, onChunk);
  if (found.samples.length < frameBytes(found.format)) throw new AudioFormatError("it has no samples");
  return found;
}

const CONTAINER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
const UNKNOWN_SIZE = 0xffffffff;
const NEAR_2_GIB = 0x7fff0000;

function checkContainer(file: DataView): void {
  if (file.byteLength === 0) throw new AudioFormatError("it is empty");
  if (file.byteLength < CONTAINER_BYTES) {
    throw new AudioFormatError(`${file.byteLength} bytes are too few for a WAV file`);
  }
  const container = fourCharacters(file, 0);
  if (container === "RIFX" || container === "RF64") {
    throw new AudioFormatError(`it is a ${container} file, and only RIFF/WAVE can be read`);
  }
  if (container !== "RIFF" || fourCharacters(file, 8) !== "WAVE") {
    throw new AudioFormatError("it does not begin as a WAV file does (RIFF, four bytes of size, WAVE)");
  }
}

function findSamples(file: DataView, isRecording: boolean, onChunk: () => void): WavSamples {
  let format: PcmFormat | null = null;
  for (let at = CONTAINER_BYTES; at + CHUNK_HEADER_BYTES <= file.byteLength; ) {
    onChunk();
    const id = fourCharacters(file, at);
    const size = file.getUint32(at + 4, true);
    const body = at + CHUNK_HEADER_BYTES;
    if (id === "data") {
      if (format === null) throw new AudioFormatError('its "data" chunk comes before any "fmt " chunk');
      const bytes = dataBytes(file, body, size, isRecording, onChunk);
      return { format, samples: new Uint8Array(file.buffer, file.byteOffset + body, bytes) };
    }
    if (size > file.byteLength - body) {
      throw new AudioFormatError(
        `it is cut off in its ${JSON.stringify(id)} chunk at byte ${at}, before any samples`,
      );
    }
    if (id === "fmt ")
      format = readWavFormat(new DataView(file.buffer, file.byteOffset + body, size), isRecording);
    at = body + size + (size % 2);
  }
  throw new AudioFormatError(format === null ? 'it has no "fmt " chunk' : 'it has no "data" chunk');
}

function dataBytes(
  file: DataView,
  body: number,
  declared: number,
  isRecording: boolean,
  onChunk: () => void,
): number {
  const present = file.byteLength - body;
  if (declared === UNKNOWN_SIZE || (isRecording && declared >= NEAR_2_GIB)) return present;
  if (declared === 0) return isChunksToTheEnd(file, body, onChunk) ? 0 : present;
  if (declared > present) {
    throw new AudioFormatError(
      `it is cut off: ${declared} bytes of samples are declared and ${present} are there`,
    );
  }
  return declared;
}

/** Tells a file that is truly without samples, but has other chunks behind, from a stream whose size is unknown. */
function isChunksToTheEnd(file: DataView, start: number, onChunk: () => void): boolean {
  let at = start;
  while (at + CHUNK_HEADER_BYTES <= file.byteLength) {
    onChunk();
    if (!/^[ -~]{4}$/.test(fourCharacters(file, at))) return false;
    const size = file.getUint32(at + 4, true);
    at += CHUNK_HEADER_BYTES + size + (size % 2);
  }
  return at === file.byteLength;
}

function fourCharacters(file: DataView, at: number): string {
  return String.fromCharCode(
    file.getUint8(at),
    file.getUint8(at + 1),
    file.getUint8(at + 2),
    file.getUint8(at + 3),
  );
}
