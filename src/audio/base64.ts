import { AudioFormatError } from "./audio-format-error.ts";

/**
 * Decodes base64 audio: the standard and the URL-safe alphabet (also mixed), padding optional but correct if given,
 * ASCII white space ignored, with or without a `data:audio/…;base64,` prefix. Unused bits of the last character are
 * ignored. The array shares its memory with nothing.
 *
 * Throws {@link AudioFormatError} for anything else; offsets in its message count from the start of `text`.
 */
export function decodeBase64Audio(text: string): Uint8Array {
  const start = payloadStart(text);
  const payload = start === 0 ? text : text.slice(start);
  return decodeUnbroken(payload) ?? decodeChecked(payload, start);
}

/**
 * Returns how many bytes {@link decodeBase64Audio} makes of a valid text, without decoding it. Never throws; the
 * number is meaningless for an invalid text.
 */
export function base64DecodedBytes(text: string): number {
  const start = prefixLength(text) ?? 0;
  const isBroken = WHITE_SPACE.some((space) => text.includes(space, start));
  return bytesOf(isBroken ? countData(text, start) : unpaddedLength(text) - start);
}

const WHITE_SPACE = ["\t", "\n", "\f", "\r", " "];

/** Enough for any media type with parameters; avoids searching a payload for a comma. */
const MAX_PREFIX_CHARS = 256;

function bytesOf(characters: number): number {
  return Math.floor((characters * 3) / 4);
}

function unpaddedLength(text: string): number {
  if (text.endsWith("==")) return text.length - 2;
  return text.endsWith("=") ? text.length - 1 : text.length;
}

function countData(text: string, start: number): number {
  let characters = 0;
  for (let at = start; at < text.length; at += 1) {
    if (KINDS[text.charCodeAt(at)] === DATA) characters += 1;
  }
  return characters;
}

function payloadStart(text: string): number {
  const length = prefixLength(text);
  if (length === null) {
    throw new AudioFormatError("its data: prefix is not of the form data:audio/wav;base64,");
  }
  return length;
}

/** Returns `null` for a `data:` prefix that does not announce audio in base64. */
function prefixLength(text: string): number | null {
  const head = text.slice(0, MAX_PREFIX_CHARS);
  if (!/^[\t\n\f\r ]*data:/i.test(head)) return 0;
  const prefix = /^[\t\n\f\r ]*data:audio\/[^,;\s]+(?:;[^,;]*)*?;[\t ]*base64[\t ]*,/i.exec(head);
  return prefix?.[0].length ?? null;
}

/**
 * Decodes text without white space fast. Node's decoder skips unknown characters and stops at padding, so it returns
 * fewer bytes than the length promises exactly when there was either; it looks only at the low byte of a character,
 * hence the check for ASCII.
 */
function decodeUnbroken(payload: string): Uint8Array | null {
  const characters = unpaddedLength(payload);
  const padded = characters < payload.length;
  if (characters % 4 === 1 || (padded && payload.length % 4 !== 0)) return null;
  if (Buffer.byteLength(payload) !== payload.length) return null;
  const bytes = new Uint8Array(bytesOf(characters));
  return decodeInto(bytes, payload) === bytes.length ? bytes : null;
}

function decodeInto(bytes: Uint8Array, payload: string): number {
  return Buffer.from(bytes.buffer).write(payload, "base64");
}

/** Checks every character, to skip white space and to locate the first mistake. */
function decodeChecked(payload: string, start: number): Uint8Array {
  let characters = 0;
  let padding = 0;
  for (let at = 0; at < payload.length; at += 1) {
    const kind = KINDS[payload.charCodeAt(at)] ?? OTHER;
    if (kind === SPACE) continue;
    if (kind === PADDING) {
      padding += 1;
      continue;
    }
    if (kind === OTHER) {
      const shown = JSON.stringify(String.fromCodePoint(payload.codePointAt(at) ?? 0));
      throw new AudioFormatError(
        `character ${start + at} of the base64 text is ${shown}, which is not one of base64`,
      );
    }
    if (padding > 0) {
      throw new AudioFormatError(`the base64 text continues after its padding at character ${start + at}`);
    }
    characters += 1;
  }
  if (characters % 4 === 1) {
    throw new AudioFormatError(
      `the base64 text is cut off: ${characters} characters cannot make whole bytes`,
    );
  }
  if (padding > 0 && (padding > 2 || (characters + padding) % 4 !== 0)) {
    throw new AudioFormatError(
      `the base64 text ends in ${padding} "=" where ${-characters & 3} would be right`,
    );
  }
  const bytes = new Uint8Array(bytesOf(characters));
  decodeInto(bytes, payload);
  return bytes;
}

const OTHER = 0;
const DATA = 1;
const SPACE = 2;
const PADDING = 3;

const KINDS = new Uint8Array(128);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
  KINDS[character.charCodeAt(0)] = DATA;
}
for (const character of WHITE_SPACE) KINDS[character.charCodeAt(0)] = SPACE;
KINDS["=".charCodeAt(0)] = PADDING;
