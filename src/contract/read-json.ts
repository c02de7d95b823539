import { ServiceError } from "./errors.ts";
import {
  afterName,
  afterScalar,
  afterSpace,
  afterString,
  afterText,
  afterValue,
  JsonBoundError,
  JsonGrammarError,
  type Seen,
  Utf8Error,
} from "./json-grammar.ts";
import { type Shape, shapeOf } from "./json-shape.ts";
import { itemPath, memberPath, UnreadFields } from "./unread-fields.ts";

/** JSON that was read by a schema. */
export interface ReadJson {
  /** A new value that holds only what the schema names, within the schema's bounds. */
  readonly value: unknown;
  /** Returns the text that a string of `value` stands for: long audio is read only here, one at a time. */
  textOf(text: string): string;
}

export interface ReadOptions {
  /** Collects the members that the schema does not name. */
  readonly unread?: UnreadFields;
  /** Whether `null` means an absent member wherever a schema allows absence but not `null`, as in OpenAI's clients. */
  readonly isNullAbsent?: boolean;
}

/** A JSON object that nothing here looks into, kept as its text: parsed, small values take up to twenty times the memory. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Lets `JSON.stringify` write the object itself. */
  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** Bytes in which a code point may be sent, as an escaped surrogate pair. */
const BYTES_PER_CHAR = 12;
/** Bytes of a string of audio that is read with everything else. */
const SHORT_AUDIO_BYTES = 128 * 1024;
/** Bytes of a name of the client's own. A longer one is over every cap; what stands for it is so, too. */
const MAX_NAME_BYTES = 1024;
/** Characters of a file of settings, or of a setting that is JSON. */
export const MAX_SETTINGS_CHARS = 2 ** 20;
/** Objects and arrays inside one another where all of a value is kept. */
const MAX_DEPTH = 64;

/** Characters with which a string of JSON is not the text that stands between its quotes. */
const NOT_PLAIN = /[\\\x00-\x1f\x80-\xff]/;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads JSON in UTF-8 by a schema. All of it is checked to be JSON, and only what the schema names is kept: time is linear
 * in the length of `bytes`, and the size of the value is bounded by the schema, however the rest is nested. What is longer
 * than the schema allows stays too long, so that its validator refuses it.
 *
 * @throws JsonGrammarError and Utf8Error, which quote nothing; JsonBoundError for a JSON text that is too large or too deep
 */
export function readJson(bytes: Uint8Array, schema: object, options: ReadOptions = {}): ReadJson {
  const reader = new Reader(bytes, options);
  return { value: reader.read(shapeOf(schema)), textOf: (text) => reader.textOf(text) };
}

/** Reads a request body by its schema. Throws a 422 {@link ServiceError} that quotes nothing of the body. */
export function readJsonBody(bytes: Uint8Array, schema: object, options: ReadOptions = {}): ReadJson {
  if (bytes.length === 0) throw new ServiceError(422, "the body is empty: send a JSON object");
  try {
    return readJson(bytes, schema, options);
  } catch (error) {
    if (error instanceof JsonGrammarError) {
      const where = error.at >= bytes.length ? "it ends too early" : `look at byte ${error.at}`;
      throw new ServiceError(422, `the body is not valid JSON: ${where}`);
    }
    if (error instanceof Utf8Error) throw new ServiceError(422, "the body is not valid UTF-8");
    if (error instanceof JsonBoundError) throw new ServiceError(422, error.message, { param: error.path });
    throw error;
  }
}

/**
 * Reads JSON of which all is kept: the operator's own, such as a file of settings.
 *
 * @throws SyntaxError, or JsonBoundError beyond `maxChars` or where it is nested more than 64 deep
 */
export function readWholeJson(text: string, maxChars: number): unknown {
  if (text.length > maxChars) throw new JsonBoundError("", `has more than ${maxChars} characters`);
  const value: unknown = JSON.parse(text);
  afterValue(Buffer.from(text), 0, { hasEscapes: false, isAscii: true }, checkDepth(""));
  return value;
}

function checkDepth(path: string): (depth: number) => void {
  return (depth) => {
    if (depth > MAX_DEPTH) throw new JsonBoundError(path, `is nested more than ${MAX_DEPTH} deep`);
  };
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #buffer: Buffer;
  readonly #seen: Seen = { hasEscapes: false, isAscii: true };
  /** Where long audio is, by what stands for it. */
  readonly #long = new Map<string, { from: number; to: number; hasEscapes: boolean }>();
  readonly #unread: UnreadFields;
  readonly #isNullAbsent: boolean;
  #at: number;

  constructor(bytes: Uint8Array, { unread = new UnreadFields(), isNullAbsent = false }: ReadOptions) {
    this.#bytes = bytes;
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#unread = unread;
    this.#isNullAbsent = isNullAbsent;
    // A byte order mark, which some editors put before everything.
    this.#at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  }

  read(shape: Shape): unknown {
    const value = this.#value(shape, "");
    this.#end();
    return value;
  }

  textOf(text: string): string {
    const place = this.#long.get(text);
    if (place === undefined) return text;
    const raw = utf8.decode(this.#bytes.subarray(place.from + 1, place.to - 1));
    return place.hasEscapes ? (JSON.parse(`"${raw}"`) as string) : raw;
  }

  #end(): void {
    const end = afterSpace(this.#bytes, this.#at);
    if (end < this.#bytes.length) throw new JsonGrammarError(end);
  }

  #value(shape: Shape, path: string): unknown {
    this.#at = afterSpace(this.#bytes, this.#at);
    const from = this.#at;
    switch (this.#bytes[from]) {
      case 0x7b:
        if (shape.maxTextBytes > 0) return this.#text(shape.maxTextBytes, path);
        return shape.members.size === 0 && shape.others === null
          ? this.#skipped({})
          : this.#object(shape, path);
      case 0x5b:
        return shape.item === null ? this.#skipped([]) : this.#array(shape.item, shape.maxItems, path);
      case 0x22:
        return this.#string(shape);
      default:
        this.#at = afterScalar(this.#bytes, from);
        return JSON.parse(this.#buffer.toString("latin1", from, this.#at));
    }
  }

  #object({ members, optional, others, maxOthers }: Shape, path: string): Record<string, unknown> {
    const kept: Record<string, unknown> = {};
    let count = 0;
    for (let isFirst = true; !this.#isClosed(0x7d, isFirst); isFirst = false) {
      const from = this.#at;
      this.#at = afterName(this.#bytes, from, this.#seen);
      const name = this.#name(from);
      const member = members.get(name) ?? others;
      if (member === null) this.#unread.add(path, name);
      const isKept = member !== null && (members.has(name) || count++ <= maxOthers);
      if (!isKept) {
        this.#skipped(null);
        continue;
      }
      const value = this.#value(member, memberPath(path, name));
      const isAbsent = value === null && this.#isNullAbsent && optional.has(name) && !member.allowsNull;
      if (!isAbsent) keep(kept, name, value);
    }
    return kept;
  }

  #array(item: Shape, maxItems: number, path: string): unknown[] {
    const kept: unknown[] = [];
    for (let isFirst = true; !this.#isClosed(0x5d, isFirst); isFirst = false) {
      if (kept.length <= maxItems) kept.push(this.#value(item, itemPath(path, kept.length)));
      else this.#skipped(null);
    }
    return kept;
  }

  /** Tells whether the container ends here; otherwise goes to its next member. */
  #isClosed(closing: number, isFirst: boolean): boolean {
    const at = afterSpace(this.#bytes, isFirst ? this.#at + 1 : this.#at);
    const byte = this.#bytes[at];
    if (byte === closing) {
      this.#at = at + 1;
      return true;
    }
    if (!isFirst && byte !== 0x2c) throw new JsonGrammarError(at);
    this.#at = isFirst ? at : afterSpace(this.#bytes, at + 1);
    return false;
  }

  #name(from: number): string {
    const to = afterString(this.#bytes, from, this.#seen);
    const { isAscii, hasEscapes } = this.#seen;
    if (to - from <= MAX_NAME_BYTES && isAscii && !hasEscapes)
      return this.#buffer.toString("latin1", from + 1, to - 1);
    return to - from > MAX_NAME_BYTES
      ? "x".repeat(MAX_NAME_BYTES)
      : (JSON.parse(this.#decoded(from, to)) as string);
  }

  #string({ maxChars, isAudio }: Shape): string {
    const from = this.#at;
    const plain = this.#plainString(isAudio ? SHORT_AUDIO_BYTES : maxChars);
    if (plain !== null) return plain;
    this.#at = afterText(this.#bytes, from, this.#seen);
    const length = this.#at - from;
    if (isAudio && length > SHORT_AUDIO_BYTES) {
      // Nobody can guess it, and so name a text that is not theirs.
      const mark = `\u0000${crypto.randomUUID()}`;
      this.#long.set(mark, { from, to: this.#at, hasEscapes: this.#seen.hasEscapes });
      return mark;
    }
    if (!isAudio && length > BYTES_PER_CHAR * maxChars + 2) return "x".repeat(maxChars + 1);
    return JSON.parse(this.#decoded(from)) as string;
  }

  /** Reads the string that begins here, if it is short and plain ASCII, as most are: several times faster. */
  #plainString(maxChars: number): string | null {
    const from = this.#at + 1;
    const end = this.#bytes.indexOf(0x22, from);
    if (end < 0 || end - from > maxChars) return null;
    const text = this.#buffer.toString("latin1", from, end);
    if (NOT_PLAIN.test(text)) return null;
    this.#at = end + 1;
    return text;
  }

  #text(maxBytes: number, path: string): JsonText {
    const from = this.#at;
    this.#at = afterValue(this.#bytes, from, this.#seen, checkDepth(path));
    if (this.#at - from > maxBytes) throw new JsonBoundError(path, `has more than ${maxBytes} bytes`);
    return new JsonText(this.#decoded(from));
  }

  #decoded(from: number, to = this.#at): string {
    return utf8.decode(this.#bytes.subarray(from, to));
  }

  #skipped<T>(stands: T): T {
    this.#at = afterValue(this.#bytes, this.#at, this.#seen);
    return stands;
  }
}

/** Gives an object a member of any name, `__proto__` too. */
function keep(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
