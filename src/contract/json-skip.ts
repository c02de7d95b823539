import {
  afterScalar,
  afterSpace,
  afterString,
  JsonGrammarError,
  type Seen,
  Utf8Error,
} from "./json-grammar.ts";

const COMMA = 0x2c;
const COLON = 0x3a;
const QUOTE = 0x22;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A long string is looked at in pieces, so that it is never in memory twice. */
const PIECE_BYTES = 64 * 1024;

/** The place after a member's name and its colon. Throws `JsonGrammarError`. */
export function afterName(bytes: Uint8Array, at: number, seen: Seen): number {
  if (bytes[at] !== QUOTE) throw new JsonGrammarError(at);
  const colon = afterSpace(bytes, afterText(bytes, at, seen));
  if (bytes[colon] !== COLON) throw new JsonGrammarError(colon);
  return colon + 1;
}

/**
 * The place after a value of which nothing is kept, checked in full. A level of nesting takes a byte. Throws
 * `JsonGrammarError`, and `Utf8Error`.
 */
export function afterValue(bytes: Uint8Array, start: number, seen: Seen): number {
  const open = new Stack();
  let at = afterSpace(bytes, start);
  for (;;) {
    const byte = bytes[at];
    if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      const closing = byte === OPEN_ARRAY ? CLOSE_ARRAY : CLOSE_OBJECT;
      at = afterSpace(bytes, at + 1);
      if (bytes[at] !== closing) {
        open.push(closing);
        if (closing === CLOSE_OBJECT) at = afterSpace(bytes, afterName(bytes, at, seen));
        continue;
      }
      at++;
    } else at = byte === QUOTE ? afterText(bytes, at, seen) : afterScalar(bytes, at);
    for (;;) {
      if (open.isEmpty) return at;
      at = afterSpace(bytes, at);
      if (bytes[at] !== open.top) break;
      open.pop();
      at++;
    }
    if (bytes[at] !== COMMA) throw new JsonGrammarError(at);
    at = afterSpace(bytes, at + 1);
    if (open.top === CLOSE_OBJECT) at = afterSpace(bytes, afterName(bytes, at, seen));
  }
}

/** The place after a string, which is checked to be UTF-8. */
export function afterText(bytes: Uint8Array, at: number, seen: Seen): number {
  const end = afterString(bytes, at, seen);
  if (!seen.isAscii) {
    const utf8 = new TextDecoder("utf-8", { fatal: true });
    for (let from = at; from < end; from += PIECE_BYTES) {
      const to = Math.min(end, from + PIECE_BYTES);
      try {
        utf8.decode(bytes.subarray(from, to), { stream: to < end });
      } catch {
        throw new Utf8Error();
      }
    }
  }
  return end;
}

/** The brackets that have yet to be closed. */
class Stack {
  #bytes = new Uint8Array(32);
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
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
