/** Invalid JSON, with the offset of the first invalid byte. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
  readonly at: number;

  constructor(at: number) {
    super(`not JSON at byte ${at}`);
    this.at = at;
  }
}

export class Utf8Error extends Error {
  override readonly name = "Utf8Error";
}

/** Valid JSON that is too large or too deep. */
export class JsonBoundError extends Error {
  override readonly name = "JsonBoundError";
  /** Path of the value; empty for all of it. */
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${path === "" ? "it" : path} ${problem}`);
    this.path = path;
  }
}

/** Properties of the last string scanned. */
export interface StringScan {
  hasEscapes: boolean;
  isAscii: boolean;
  /** Offset after the last name. */
  end: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** Remaining letters of `true`, `false` and `null`, by their first. */
const WORDS: Readonly<Record<number, readonly number[]>> = {
  116: [..."rue"].map((letter) => letter.charCodeAt(0)),
  102: [..."alse"].map((letter) => letter.charCodeAt(0)),
  110: [..."ull"].map((letter) => letter.charCodeAt(0)),
};

/** `"`, `\`, `/`, `b`, `f`, `n`, `r`, `t`. */
const ESCAPED = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)));

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Returns the offset after white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  while (isSpace(bytes[at])) at++;
  return at;
}

/**
 * Returns the offset after the string that begins at `at`. Throws {@link JsonSyntaxError}.
 *
 * @param seen receives the properties of the string
 */
export function skipString(bytes: Uint8Array, at: number, seen: StringScan): number {
  seen.hasEscapes = false;
  seen.isAscii = true;
  const end = bytes.length;
  for (at++; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) {
      seen.hasEscapes = true;
      at = skipEscape(bytes, at) - 1;
    } else if (byte < 0x20) break;
    else if (byte >= 0x80) seen.isAscii = false;
  }
  throw new JsonSyntaxError(at);
}

/** Returns the offset after a number or literal. Throws {@link JsonSyntaxError}. */
export function skipScalar(bytes: Uint8Array, at: number): number {
  const word = WORDS[bytes[at] ?? 0];
  if (word === undefined) return skipNumber(bytes, at);
  for (const [index, letter] of word.entries()) {
    if (bytes[at + 1 + index] !== letter) throw new JsonSyntaxError(at + 1 + index);
  }
  return at + 1 + word.length;
}

function skipEscape(bytes: Uint8Array, at: number): number {
  const kind = bytes[at + 1];
  if (kind !== 0x75) {
    if (kind === undefined || !ESCAPED.has(kind)) throw new JsonSyntaxError(at + 1);
    return at + 2;
  }
  for (let digit = at + 2; digit < at + 6; digit++) {
    if (!isHex(bytes[digit] ?? 0)) throw new JsonSyntaxError(digit);
  }
  return at + 6;
}

function isHex(byte: number): boolean {
  const letter = byte | 0x20;
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66);
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

function skipNumber(bytes: Uint8Array, at: number): number {
  if (bytes[at] === MINUS) at++;
  at = bytes[at] === ZERO ? at + 1 : skipDigits(bytes, at);
  if (bytes[at] === POINT) at = skipDigits(bytes, at + 1);
  if (((bytes[at] ?? 0) | 0x20) !== 0x65) return at;
  at++;
  if (bytes[at] === MINUS || bytes[at] === 0x2b) at++;
  return skipDigits(bytes, at);
}

/** Requires at least one digit. */
function skipDigits(bytes: Uint8Array, at: number): number {
  if (!isDigit(bytes[at])) throw new JsonSyntaxError(at);
  while (isDigit(bytes[at])) at++;
  return at;
}

const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Long text is decoded in pieces, so that it is never in memory twice. */
const PIECE_BYTES = 64 * 1024;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Throws `Utf8Error` for bytes that are not UTF-8. */
export function checkUtf8(bytes: Uint8Array): void {
  const decoder = bytes.length <= PIECE_BYTES ? utf8 : new TextDecoder("utf-8", { fatal: true });
  try {
    for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
      const to = Math.min(bytes.length, from + PIECE_BYTES);
      decoder.decode(bytes.subarray(from, to), { stream: to < bytes.length });
    }
  } catch {
    throw new Utf8Error();
  }
}

/** Returns the offset after a member's name and colon. Throws `JsonSyntaxError`. */
export function skipName(bytes: Uint8Array, at: number, seen: StringScan): number {
  if (bytes[at] !== QUOTE) throw new JsonSyntaxError(at);
  seen.end = skipString(bytes, at, seen);
  const colon = skipSpace(bytes, seen.end);
  if (bytes[colon] !== COLON) throw new JsonSyntaxError(colon);
  return colon + 1;
}

/**
 * Returns the offset after a value, all of which is checked. Each level of nesting takes a byte. Throws
 * `JsonSyntaxError`.
 *
 * @param onDepth called with the depth of every container that is not empty
 */
export function skipValue(
  bytes: Uint8Array,
  start: number,
  seen: StringScan,
  onDepth: (depth: number) => void = () => {},
): number {
  let at = skipSpace(bytes, start);
  if (bytes[at] === QUOTE) return skipString(bytes, at, seen);
  if (bytes[at] !== OPEN_ARRAY && bytes[at] !== OPEN_OBJECT) return skipScalar(bytes, at);
  const open = new Stack();
  for (;;) {
    const byte = bytes[at];
    if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      const closing = byte === OPEN_ARRAY ? CLOSE_ARRAY : CLOSE_OBJECT;
      at = skipSpace(bytes, at + 1);
      if (bytes[at] !== closing) {
        open.push(closing);
        onDepth(open.size);
        if (closing === CLOSE_OBJECT) at = skipSpace(bytes, skipName(bytes, at, seen));
        continue;
      }
      at++;
    } else at = byte === QUOTE ? skipString(bytes, at, seen) : skipScalar(bytes, at);
    for (;;) {
      if (open.isEmpty) return at;
      at = skipSpace(bytes, at);
      if (bytes[at] !== open.top) break;
      open.pop();
      at++;
    }
    if (bytes[at] !== COMMA) throw new JsonSyntaxError(at);
    at = skipSpace(bytes, at + 1);
    if (open.top === CLOSE_OBJECT) at = skipSpace(bytes, skipName(bytes, at, seen));
  }
}

/** Brackets to be closed. */
class Stack {
  #bytes = new Uint8Array(32);
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  get size(): number {
    return this.#size;
  }

  get top(): number | undefined {
    return this.#bytes[this.#size - 1];
  }

  push(byte: number): void {
    if (this.#size === this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#size);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#size++] = byte;
  }

  pop(): void {
    this.#size--;
  }
}
