import { joinBytes } from "../pcm.ts";
import { utf8 } from "./encoder.ts";

export interface Chapter {
  readonly title: string;
  /** Seconds from the beginning of the recording. */
  readonly startS: number;
}

/** Name of a Vorbis comment, and its text. */
export type BookTag = readonly [name: "TITLE" | "ALBUM" | "ARTIST", text: string];

export const MAX_CHAPTERS = 400;
const MAX_TITLE_CHARS = 80;
const MAX_TAG_CHARS = 200;
const ID3_NAMES = { TITLE: "TIT2", ALBUM: "TALB", ARTIST: "TPE1" } as const;
const FRAME_HEADER_BYTES = 10;

/**
 * Returns the ID3v2.3 tag (id3.org) with which an MP3 has tags and chapters: a table of contents and a frame per
 * chapter (ID3v2 Chapter Frame Addendum 1.0).
 *
 * @param durationS length of the whole recording
 */
export function id3Tag(
  chapters: readonly Chapter[],
  durationS: number,
  tags: readonly BookTag[],
): Uint8Array {
  const kept = chapters.slice(0, MAX_CHAPTERS);
  const ids = kept.map((_, at) => zeroEnded(`chp${at}`));
  const contents = frame("CTOC", [zeroEnded("toc"), Uint8Array.of(TOP_LEVEL | ORDERED, kept.length), ...ids]);
  // The entry count is a byte: with more than 255 chapters there is no table, and players use the frames.
  const frames = [
    ...tags.map(([name, text]) => textFrame(ID3_NAMES[name], shortened(text, MAX_TAG_CHARS))),
    ...(kept.length > 0 && kept.length <= 255 ? [contents] : []),
  ];
  for (const [at, { title, startS }] of kept.entries()) {
    const endS = kept[at + 1]?.startS ?? durationS;
    const times = new DataView(new ArrayBuffer(16));
    times.setUint32(0, Math.round(1_000 * startS));
    times.setUint32(4, Math.round(1_000 * endS));
    // No byte offsets: players use the times.
    times.setUint32(8, 0xffff_ffff);
    times.setUint32(12, 0xffff_ffff);
    const named = textFrame("TIT2", shortened(title));
    frames.push(frame("CHAP", [ids[at]!, new Uint8Array(times.buffer), named]));
  }
  const body = joinBytes(frames);
  // 28 bits as four bytes of seven.
  const size = [21, 14, 7, 0].map((shift) => (body.length >>> shift) & 0x7f);
  const head = Uint8Array.of(...utf8("ID3"), 3, 0, 0, ...size);
  return joinBytes([head, body]);
}

/** Returns Vorbis comments. */
export function tagComments(tags: readonly BookTag[]): string[] {
  return tags.map(([name, text]) => `${name}=${shortened(text, MAX_TAG_CHARS)}`);
}

/** Encodes vendor and comments, as in Ogg and FLAC. */
export function vorbisComments(comments: readonly string[]): Uint8Array {
  return joinBytes([
    counted(utf8("antiphon")),
    littleEndian(comments.length),
    ...comments.map((comment) => counted(utf8(comment))),
  ]);
}

function counted(bytes: Uint8Array): Uint8Array {
  return joinBytes([littleEndian(bytes.length), bytes]);
}

function littleEndian(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}

/** Returns Ogg comments that name chapters, as players expect them: `CHAPTER001=00:00:00.000`, `CHAPTER001NAME=…`. */
export function chapterComments(chapters: readonly Chapter[]): string[] {
  const comments: string[] = [];
  let bytes = 0;
  for (const [at, { title, startS }] of chapters.slice(0, MAX_CHAPTERS).entries()) {
    const name = `CHAPTER${`${at + 1}`.padStart(3, "0")}`;
    const pair = [`${name}=${clock(startS)}`, `${name}NAME=${shortened(title)}`];
    bytes += pair.reduce((sum, each) => sum + 4 + utf8(each).length, 0);
    if (bytes > PAGE_BYTES) break;
    comments.push(...pair);
  }
  return comments;
}

/** An Ogg page has room for 65,025 bytes: these, the tags and overhead. */
const PAGE_BYTES = 62_000;
const [TOP_LEVEL, ORDERED] = [2, 1];
const UTF16 = 1;

function shortened(title: string, maxChars = MAX_TITLE_CHARS): string {
  const chars = Array.from(
    title
      .toWellFormed()
      .replaceAll(/[\s\p{Cc}]+/gu, " ")
      .trim(),
  );
  return chars.length <= maxChars ? chars.join("") : `${chars.slice(0, maxChars - 1).join("")}…`;
}

function textFrame(id: string, text: string): Uint8Array {
  return frame(id, [Uint8Array.of(UTF16), utf16(text)]);
}

function clock(seconds: number): string {
  const ms = Math.round(1_000 * seconds);
  const two = (value: number) => `${Math.floor(value)}`.padStart(2, "0");
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}.${`${ms % 1_000}`.padStart(3, "0")}`;
}

function frame(id: string, parts: readonly Uint8Array[]): Uint8Array {
  const body = joinBytes(parts);
  const head = new Uint8Array(FRAME_HEADER_BYTES);
  head.set(utf8(id));
  new DataView(head.buffer).setUint32(4, body.length);
  return joinBytes([head, body]);
}

function zeroEnded(text: string): Uint8Array {
  return joinBytes([utf8(text), Uint8Array.of(0)]);
}

/** Encodes UTF-16, little-endian with a byte order mark, as ID3v2.3 requires. */
function utf16(text: string): Uint8Array {
  const bytes = new Uint8Array(2 * (text.length + 1));
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 0xfeff, true);
  for (let at = 0; at < text.length; at++) view.setUint16(2 * (at + 1), text.charCodeAt(at), true);
  return bytes;
}
