import { pcm16Bytes } from "./pcm.ts";

/** A complete WAV file of 16-bit mono PCM, from one array or from the pieces of a recording in order. */
export function encodeWav(pcm: Int16Array | readonly Int16Array[], sampleRateHz: number): Uint8Array {
  const pieces = pcm instanceof Int16Array ? [pcm] : pcm;
  const dataBytes = pieces.reduce((bytes, piece) => bytes + piece.byteLength, 0);
  const file = new Uint8Array(HEADER_BYTES + dataBytes);
  writeHeader(new DataView(file.buffer), dataBytes, sampleRateHz);
  let at = HEADER_BYTES;
  for (const piece of pieces) {
    file.set(pcm16Bytes(piece), at);
    at += piece.byteLength;
  }
  return file;
}

/** The header of such a file while it is being made, with the sizes left open as streaming writers do: 0xFFFFFFFF. */
export function openWavHeader(sampleRateHz: number): Uint8Array {
  return wavHeader(OPEN_SIZE, sampleRateHz);
}

/** The header of a file with so many bytes of whole-number samples: 16-bit and mono unless told otherwise. */
export function wavHeader(dataBytes: number, sampleRateHz: number, layout = MONO_16): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  writeHeader(new DataView(header.buffer), dataBytes, sampleRateHz, layout);
  return header;
}

/** Of the interleaved samples of a file. */
export interface SampleLayout {
  readonly bytesPerSample: number;
  readonly channels: number;
}

const MONO_16: SampleLayout = { bytesPerSample: 2, channels: 1 };
const HEADER_BYTES = 44;
const OPEN_SIZE = 0xffff_ffff;
const PCM = 1;

function writeHeader(
  header: DataView,
  dataBytes: number,
  sampleRateHz: number,
  { bytesPerSample, channels }: SampleLayout = MONO_16,
): void {
  writeCharacters(header, 0, "RIFF");
  header.setUint32(4, Math.min(OPEN_SIZE, HEADER_BYTES - 8 + dataBytes), true);
  writeCharacters(header, 8, "WAVEfmt ");
  header.setUint32(16, 16, true);
  header.setUint16(20, PCM, true);
  header.setUint16(22, channels, true);
  header.setUint32(24, sampleRateHz, true);
  header.setUint32(28, sampleRateHz * channels * bytesPerSample, true);
  header.setUint16(32, channels * bytesPerSample, true);
  header.setUint16(34, 8 * bytesPerSample, true);
  writeCharacters(header, 36, "data");
  header.setUint32(40, dataBytes, true);
}

function writeCharacters(header: DataView, at: number, characters: string): void {
  for (let i = 0; i < characters.length; i += 1) header.setUint8(at + i, characters.charCodeAt(i));
}
