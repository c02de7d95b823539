import { readFrameHead } from "./mp3.ts";

export type RecordingKind = "wav" | "mp3" | "flac" | "ogg" | "webm";

type FoundKind =
  | { readonly kind: RecordingKind; readonly start: number; readonly end: number }
  | { readonly refused: string };

/**
 * Recognises a file by its first bytes: a readable kind with its bounds, or a known kind that cannot be read. Returns
 * `null` for anything else.
 */
export function recordingKind(file: Uint8Array): FoundKind | null {
  const start = afterTags(file);
  const end = beforeTags(file, start);
  const bytes = file.subarray(0, end);
  const starts = (characters: string, at = start): boolean =>
    at + characters.length <= bytes.length &&
    [...characters].every((character, index) => bytes[at + index] === character.charCodeAt(0));
  if (starts("RIFF") || starts("RIFX") || starts("RF64")) return { kind: "wav", start, end: file.length };
  if (starts("fLaC")) return { kind: "flac", start, end };
  if (starts("OggS")) return { kind: "ogg", start, end };
  if (starts("\u001aE\u00df\u00a3")) return { kind: "webm", start, end: file.length };
  if (starts("ftyp", start + 4)) return { refused: "MP4 or M4A" };
  if (starts("FORM")) return { refused: "AIFF" };
  if (starts("caff")) return { refused: "CAF" };
  if (starts(".snd")) return { refused: "AU" };
  if (starts("riff")) return { refused: "W64" };
  if (starts("#!AMR")) return { refused: "AMR" };
  if (starts("0&\u00b2u")) return { refused: "WMA" };
  return mpegKind(bytes, start);
}

/** More tags than any real file has. */
const MAX_TAGS = 8;
const APE_BYTES = 32;
const ID3V1_BYTES = 128;

/** Returns the offset after the leading ID3v2 and APEv2 tags. */
function afterTags(bytes: Uint8Array): number {
  let start = 0;
  for (let tag = 0; tag < MAX_TAGS; tag += 1) {
    const size = id3v2Bytes(bytes.subarray(start)) || apeBytes(bytes, start, true);
    if (size === 0) break;
    start = Math.min(bytes.length, start + size);
  }
  return start;
}

/** Returns the offset of the trailing APEv2 and ID3v1 tags. */
function beforeTags(bytes: Uint8Array, start: number): number {
  let end = bytes.length;
  for (let tag = 0; tag < MAX_TAGS; tag += 1) {
    const at = end - ID3V1_BYTES;
    const isId3 = at > start && latin1(bytes, at, 3) === "TAG";
    const size = isId3 ? ID3V1_BYTES : apeBytes(bytes, end - APE_BYTES, false);
    if (size === 0 || end - size <= start) break;
    end -= size;
  }
  return end;
}

/** Returns the length of an ID3v2 tag: seven bits a byte, plus an optional footer. */
function id3v2Bytes(bytes: Uint8Array): number {
  if (bytes.length < 10 || latin1(bytes, 0, 3) !== "ID3") return 0;
  const size = bytes.subarray(6, 10).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  return 10 + size + ((bytes[5]! & 0x10) === 0 ? 0 : 10);
}

/**
 * Returns the length of the APEv2 tag whose header or footer is at `at`. Either gives the length of all but the
 * header.
 */
function apeBytes(bytes: Uint8Array, at: number, isHeader: boolean): number {
  if (at < 0 || at + APE_BYTES > bytes.length || latin1(bytes, at, 8) !== "APETAGEX") return 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, APE_BYTES);
  const hasHeader = isHeader || (view.getUint32(20, true) & 0x8000_0000) !== 0;
  return view.getUint32(12, true) + (hasHeader ? APE_BYTES : 0);
}

function latin1(bytes: Uint8Array, at: number, count: number): string {
  return Buffer.from(bytes.subarray(at, at + count)).toString("latin1");
}

/** Most bytes before the first frame: padding, or the rest of a cut frame. */
const MAX_BYTES_BEFORE = 64 * 1024;

/** Frames in a row that make MPEG audio: at the beginning, and later, where samples look like a few by chance. */
const [FRAMES_FIRST, FRAMES_AFTER] = [2, 8];

/** Finds MPEG audio: frames of one rate in a row, each beginning with eleven ones. AAC begins likewise, with layer 0. */
function mpegKind(bytes: Uint8Array, start: number): FoundKind | null {
  if (bytes[start] === 0xff && (bytes[start + 1]! & 0xf6) === 0xf0) return { refused: "AAC" };
  for (let at = start; at + 4 <= bytes.length && at < start + MAX_BYTES_BEFORE; at += 1) {
    if (bytes[at] === 0xff && isMpegAt(bytes, at, at === start)) {
      return { kind: "mp3", start: at, end: bytes.length };
    }
  }
  return null;
}

/** Returns whether frames begin here. Only a file that begins with a frame may have fewer. */
function isMpegAt(bytes: Uint8Array, from: number, isFirst: boolean): boolean {
  const rateHz = readFrameHead(bytes, from)?.sampleRateHz;
  let at = from;
  for (let frames = 0; frames < (isFirst ? FRAMES_FIRST : FRAMES_AFTER); frames += 1) {
    if (at + 4 > bytes.length) return isFirst;
    const head = readFrameHead(bytes, at);
    if (head === null || head.sampleRateHz !== rateHz) return false;
    if (head.bytes === null) return isFirst && frames === 0;
    at += head.bytes;
  }
  return true;
}
