import { pcm16Bytes } from "./pcm.ts";

/** Returns a complete WAV file of 16-bit mono PCM. The samples come in one array or in several, in order. */
export function encodeWav(pcm: Int16Array | readonly Int16Array[], sampleRateHz: number): Uint8Array {
  const pieces = pcm instanceof Int16Array ? [pcm] : pcm;
  const dataBytes = pieces.reduce((bytes, piece) => bytes + piece.byteLength, 0);
  const file = new Uint8Array(HEADER_BYTES + dataBytes);
  file.set(wavHeader(dataBytes, sampleRateHz));
  let at = HEADER_BYTES;
  for (const piece of pieces) {
    file.set(pcm16Bytes(piece), at);
    at += piece.byteLength;
  }
  return file;
}

/**
 * Returns the header of a file with `dataBytes` of integer samples. `null` leaves the sizes open (0xFFFFFFFF), as streaming
 * writers do.
 */
export function wavHeader(
  dataBytes: number | null,
  sampleRateHz: number,
  { bytesPerSample, channels } = { bytesPerSample: 2, channels: 1 },
): Uint8Array<ArrayBuffer> {
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  writeCharacters(header, 0, "RIFF");
  header.setUint32(4, Math.min(OPEN_SIZE, HEADER_BYTES - 8 + (dataBytes ?? OPEN_SIZE)), true);
  writeCharacters(header, 8, "WAVEfmt ");
  header.setUint32(16, 16, true);
  header.setUint16(20, PCM, true);
  header.setUint16(22, channels, true);
  header.setUint32(24, sampleRateHz, true);
  header.setUint32(28, sampleRateHz * channels * bytesPerSample, true);
  header.setUint16(32, channels * bytesPerSample, true);
  header.setUint16(34, 8 * bytesPerSample, true);
  writeCharacters(header, 36, "data");
  header.setUint32(40, dataBytes ?? OPEN_SIZE, true);
  return new Uint8Array(header.buffer);
}

const HEADER_BYTES = 44;
const OPEN_SIZE = 0xffff_ffff;
const PCM = 1;

function writeCharacters(header: DataView, at: number, characters: string): void {
  for (let i = 0; i < characters.length; i += 1) header.setUint8(at + i, characters.charCodeAt(i));
}
