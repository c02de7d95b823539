import { AudioFormatError } from "./audio-format-error.ts";
import { frameBytes, mixDown, type PcmFormat, type SampleKind } from "./pcm-format.ts";

interface WavClip {
  readonly sampleRateHz: number;
  /** Channels in the file; `samples` has one. */
  readonly channels: number;
  /** Sample frames in the file: one sample of each channel. */
  readonly frames: number;
  readonly durationS: number;
  /** Mono, in [-1, 1], at the file's own rate: the mean of the channels. */
  readonly samples: Float32Array;
}

/**
 * Decodes a RIFF/WAVE file: PCM of 8, 16, 24 or 32 bits and float of 32 or 64, plain or extensible, any number of
 * channels, with other chunks anywhere. The RIFF size is ignored. Bytes after the last whole frame are dropped.
 *
 * Memory is at most four times the file's, whatever its header claims. Throws {@link AudioFormatError} for anything
 * else: other encodings, truncated, without samples, or with a sample that is not a finite number.
 *
 * @param maxSamples a longer clip is decoded up to here; its `frames` and `durationS` are those of the whole file
 */
export function decodeWav(bytes: Uint8Array, maxSamples = Number.POSITIVE_INFINITY): WavClip {
  const { format, samples } = findWavSamples(bytes);
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

interface WavOptions {
  /** Whether A-law and µ-law samples are accepted. Default: false. */
  readonly isCompandedAccepted?: boolean;
  /** Called before each chunk is read. */
  readonly onChunk?: () => void;
}

/** Encoded samples of a file, at least one frame. */
interface WavSamples {
  readonly format: PcmFormat;
  readonly samples: Uint8Array;
}

/** Finds the samples of a complete file without decoding them. Throws as {@link decodeWav} does. */
export function findWavSamples(bytes: Uint8Array, options: WavOptions = {}): WavSamples {
  const { format, dataStart, dataBytes } = scanHead(bytes, true, options)!;
  const present = bytes.length - dataStart;
  if (dataBytes !== null && dataBytes > present) {
    throw new AudioFormatError(
      `it is cut off: ${dataBytes} bytes of samples are declared and ${present} are there`,
    );
  }
  const isEmpty = dataBytes === null && isChunksToTheEnd(bytes, dataStart, options);
  const samples = bytes.subarray(dataStart, dataStart + (isEmpty ? 0 : (dataBytes ?? present)));
  if (samples.length < frameBytes(format)) throw new AudioFormatError("it has no samples");
  return { format, samples };
}

export interface WavHead {
  readonly format: PcmFormat;
  /** Byte offset of the first sample. */
  readonly dataStart: number;
  /** Declared bytes of samples. `null` if the writer left a placeholder: the samples run to the end. */
  readonly dataBytes: number | null;
}

/**
 * Reads the head of a WAV stream from the bytes received so far. Returns `null` if it takes more of them. Throws
 * {@link AudioFormatError} for other formats and for heads over 64 KiB.
 */
export function readWavHead(bytes: Uint8Array, options: WavOptions = {}): WavHead | null {
  return scanHead(bytes, false, options);
}

const CONTAINER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
/** Longest head that a stream may have: a longer one holds pictures. */
const MAX_STREAMED_HEAD_BYTES = 1 << 16;
/** Sizes from here on, forty recordings, are placeholders if the file is shorter: 0xFFFFFFFF, about 2 GiB, 2e9. */
const MIN_PLACEHOLDER_BYTES = 1 << 30;

/** Returns `null` only for an incomplete head of a stream (`isWhole` is false). */
function scanHead(
  bytes: Uint8Array,
  isWhole: boolean,
  { isCompandedAccepted = false, onChunk }: WavOptions,
): WavHead | null {
  if (bytes.length < CONTAINER_BYTES) {
    if (!isWhole) return null;
    throw new AudioFormatError(
      bytes.length === 0 ? "it is empty" : `${bytes.length} bytes are too few for a WAV file`,
    );
  }
  const file = viewOf(bytes);
  checkContainer(file);
  let format: PcmFormat | null = null;
  for (let at = CONTAINER_BYTES; at + CHUNK_HEADER_BYTES <= bytes.length; ) {
    onChunk?.();
    const id = fourCharacters(file, at);
    const size = file.getUint32(at + 4, true);
    const body = at + CHUNK_HEADER_BYTES;
    if (id === "data") {
      if (format === null) throw new AudioFormatError('its "data" chunk comes before any "fmt " chunk');
      const isPresent = isWhole && size <= bytes.length - body;
      const isKnown = size > 0 && (size < MIN_PLACEHOLDER_BYTES || isPresent);
      return { format, dataStart: body, dataBytes: isKnown ? size : null };
    }
    if (!isWhole && body + size > MAX_STREAMED_HEAD_BYTES)
      throw new AudioFormatError("it has no samples in its first 64 KiB");
    if (size > bytes.length - body) {
      if (!isWhole) return null;
      throw new AudioFormatError(
        `it is cut off in its ${JSON.stringify(id)} chunk at byte ${at}, before any samples`,
      );
    }
    if (id === "fmt ") format = readFormat(viewOf(bytes.subarray(body, body + size)), isCompandedAccepted);
    at = body + size + (size % 2);
  }
  if (!isWhole) return null;
  throw new AudioFormatError(format === null ? 'it has no "fmt " chunk' : 'it has no "data" chunk');
}

function checkContainer(file: DataView): void {
  const container = fourCharacters(file, 0);
  if (container === "RIFX" || container === "RF64") {
    throw new AudioFormatError(`it is a ${container} file, and only RIFF/WAVE can be read`);
  }
  if (container !== "RIFF" || fourCharacters(file, 8) !== "WAVE") {
    throw new AudioFormatError("it does not begin as a WAV file does (RIFF, four bytes of size, WAVE)");
  }
}

/** Tells a file without samples that has more chunks after its data from a stream whose size is unknown. */
function isChunksToTheEnd(bytes: Uint8Array, start: number, { onChunk }: WavOptions): boolean {
  const file = viewOf(bytes);
  let at = start;
  while (at + CHUNK_HEADER_BYTES <= file.byteLength) {
    onChunk?.();
    if (!/^[ -~]{4}$/.test(fourCharacters(file, at))) return false;
    const size = file.getUint32(at + 4, true);
    at += CHUNK_HEADER_BYTES + size + (size % 2);
  }
  return at === file.byteLength;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function fourCharacters(file: DataView, at: number): string {
  return String.fromCharCode(
    file.getUint8(at),
    file.getUint8(at + 1),
    file.getUint8(at + 2),
    file.getUint8(at + 3),
  );
}

const MIN_RATE_HZ = 1_000;
const MAX_RATE_HZ = 768_000;

/**
 * Reads the body of a `fmt ` chunk (Microsoft, "Multiple channel audio data and WAVE files", 2007), plain or
 * WAVE_FORMAT_EXTENSIBLE. The nominal byte rate is ignored: nothing depends on it.
 */
function readFormat(chunk: DataView, isCompandedAccepted: boolean): PcmFormat {
  if (chunk.byteLength < 16) {
    throw new AudioFormatError(`its "fmt " chunk has ${chunk.byteLength} bytes where at least 16 are needed`);
  }
  const channels = chunk.getUint16(2, true);
  const sampleRateHz = chunk.getUint32(4, true);
  const blockAlign = chunk.getUint16(12, true);
  const bits = chunk.getUint16(14, true);
  const kind = sampleKind(formatTag(chunk), bits, isCompandedAccepted);
  if (channels === 0) throw new AudioFormatError('its "fmt " chunk declares no channels');
  if (sampleRateHz < MIN_RATE_HZ || sampleRateHz > MAX_RATE_HZ) {
    throw new AudioFormatError(
      `its sample rate is ${sampleRateHz} Hz, and ${MIN_RATE_HZ} to ${MAX_RATE_HZ} Hz can be read`,
    );
  }
  if (blockAlign !== frameBytes({ kind, channels })) {
    throw new AudioFormatError(
      `its "fmt " chunk declares ${blockAlign} bytes a frame for ${channels} channels of ${bits} bits`,
    );
  }
  return { kind, sampleRateHz, channels };
}

const EXTENSIBLE = 0xfffe;
/** Bytes after the tag in the GUID of a sub-format: 0000-0010-8000-00AA00389B71. */
const GUID_TAIL = [0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x80, 0x00, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71];
const GUID_OFFSET = 24;

function formatTag(chunk: DataView): number {
  const tag = chunk.getUint16(0, true);
  if (tag !== EXTENSIBLE) return tag;
  if (chunk.byteLength < GUID_OFFSET + 2 + GUID_TAIL.length) {
    throw new AudioFormatError(
      `its extensible "fmt " chunk has ${chunk.byteLength} bytes where 40 are needed`,
    );
  }
  if (GUID_TAIL.some((byte, index) => chunk.getUint8(GUID_OFFSET + 2 + index) !== byte)) {
    throw new AudioFormatError("its extensible format has a sub-format that is neither PCM nor float");
  }
  return chunk.getUint16(GUID_OFFSET, true);
}

/** Readable encodings by format tag, with the sample kinds by bits. */
const READABLE = new Map<number, Readonly<Record<number, SampleKind>>>([
  [1, { 8: "u8", 16: "s16", 24: "s24", 32: "s32" }],
  [3, { 32: "f32", 64: "f64" }],
]);
const COMPANDED = new Map<number, Readonly<Record<number, SampleKind>>>([
  [6, { 8: "alaw" }],
  [7, { 8: "mulaw" }],
]);

const ENCODING_NAMES: Readonly<Record<number, string>> = {
  1: "PCM",
  2: "ADPCM",
  3: "float",
  6: "A-law",
  7: "mu-law",
  17: "IMA ADPCM",
  49: "GSM 6.10",
  80: "MPEG",
  85: "MP3",
};

function sampleKind(tag: number, bits: number, isCompandedAccepted: boolean): SampleKind {
  const encoding = ENCODING_NAMES[tag] ?? `format 0x${tag.toString(16).padStart(4, "0")}`;
  const kinds = READABLE.get(tag) ?? (isCompandedAccepted ? COMPANDED.get(tag) : undefined);
  if (kinds === undefined) {
    const read = isCompandedAccepted ? "PCM, float, A-law and mu-law" : "PCM and float";
    throw new AudioFormatError(`it is encoded as ${encoding}, and only ${read} WAV can be read`);
  }
  const kind = kinds[bits];
  if (kind === undefined) {
    throw new AudioFormatError(`it holds ${bits}-bit ${encoding} samples, which cannot be read`);
  }
  return kind;
}
