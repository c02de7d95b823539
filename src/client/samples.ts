/** The bytes that base64 stands for. Throws where it is none. */
export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Bytes in base64, as a turn's `audio_wav_b64` wants them. */
export function toBase64(bytes: Uint8Array): string {
  let text = "";
  // In pieces, since a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 8_192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  }
  return btoa(text);
}

/** 16-bit samples from base64, in the order of bytes of the wire and of every machine that browsers and Node run on. */
export function pcmOf(base64: string): Int16Array<ArrayBuffer> {
  return new Int16Array(bytesOf(base64).buffer);
}

const HEADER_BYTES = 44;

/** A WAV file of 16-bit mono samples, from pieces in order. */
export function encodeWav(pieces: readonly Int16Array[], sampleRateHz = 24_000): Uint8Array<ArrayBuffer> {
  const samples = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const file = new ArrayBuffer(HEADER_BYTES + 2 * samples);
  // In words of 32 bits: RIFF, size, WAVE, "fmt ", its size, PCM and one channel, samples and bytes a second, two bytes
  // and 16 bits a sample, data, size.
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
