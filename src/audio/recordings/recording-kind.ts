/** Kinds of files that can be read. */
export type RecordingKind = "wav" | "mp3" | "flac" | "ogg" | "webm";

/** What the first bytes of a file tell. */
export type FoundKind =
  | { readonly kind: RecordingKind; readonly start: number }
  | { readonly refused: string };

/** A kind that can be read and where it starts, or what is known to be something else; `null` is neither. */
export function recordingKind(bytes: Uint8Array): FoundKind | null {
  const start = afterTag(bytes);
  const starts = (characters: string, at = start): boolean =>
    at + characters.length <= bytes.length &&
    [...characters].every((character, index) => bytes[at + index] === character.charCodeAt(0));
  if (starts("RIFF") || starts("RIFX") || starts("RF64")) return { kind: "wav", start };
  if (starts("fLaC")) return { kind: "flac", start };
  if (starts("OggS")) return { kind: "ogg", start };
  if (starts("\u001aE\u00df\u00a3")) return { kind: "webm", start };
  if (starts("ftyp", start + 4)) return { refused: "MP4 or M4A" };
  if (starts("FORM")) return { refused: "AIFF" };
  if (starts("caff")) return { refused: "CAF" };
  if (starts("#!AMR")) return { refused: "AMR" };
  if (starts("0&\u00b2u")) return { refused: "WMA" };
  return mpegKind(bytes, start);
}

/** Behind an ID3v2 tag, which says its own length, seven bits a byte; 0 without one. */
function afterTag(bytes: Uint8Array): number {
  if (bytes[0] !== 0x49 || bytes[1] !== 0x44 || bytes[2] !== 0x33 || bytes.length < 10) return 0;
  const size = bytes.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return Math.min(bytes.length, 10 + size);
}

/** MPEG's frames begin with eleven ones; then come version, layer, rates. AAC's begin so too, with a layer of 0. */
function mpegKind(bytes: Uint8Array, start: number): FoundKind | null {
  const hasTag = start > 0;
  for (let at = start; at + 3 < bytes.length && at < start + (hasTag ? 4_096 : 1); at += 1) {
    if (bytes[at] !== 0xff || (bytes[at + 1]! & 0xe0) !== 0xe0) continue;
    const version = (bytes[at + 1]! >> 3) & 3;
    const layer = (bytes[at + 1]! >> 1) & 3;
    if (layer === 0 && version >= 2) return { refused: "AAC" };
    const isFrame =
      version !== 1 && layer !== 0 && bytes[at + 2]! >> 4 !== 15 && ((bytes[at + 2]! >> 2) & 3) !== 3;
    if (isFrame) return { kind: "mp3", start: at };
  }
  return null;
}
