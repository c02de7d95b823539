/** Decodes base64. Throws if it is invalid. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Encodes bytes as base64, such as for a turn's `audio_wav_b64`. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  // In slices, since a call takes a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 8_192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  }
  return btoa(text);
}

/** Decodes base64 of 16-bit little-endian samples, the byte order of every machine that runs browsers or Node. */
export function pcmOf(base64: string): Int16Array<ArrayBuffer> {
  return new Int16Array(bytesOf(base64).buffer);
}

const HEADER_BYTES = 44;

/** Encodes 16-bit mono samples as a WAV file. */
export function encodeWav(pieces: readonly Int16Array[], sampleRateHz = 24_000): Uint8Array<ArrayBuffer> {
  const samples = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const file = new ArrayBuffer(HEADER_BYTES + 2 * samples);
  // 32-bit words: RIFF, size, WAVE, "fmt ", its size, PCM and channels, sample rate, byte rate, block size and bits
  // per sample, data, size.
  const header = [0x46464952, HEADER_BYTES - 8 + 2 * samples, 0x45564157, 0x20746d66, 16, 0x10001];
  header.push(sampleRateHz, 2 * sampleRateHz, 0x100002, 0x61746164, 2 * samples);
  new Uint32Array(file, 0, header.length).set(header);
  const all = new Int16Array(file, HEADER_BYTES);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return new Uint8Array(file);
}
