import { ServiceError } from "../errors.ts";
import {
  checkUtf8,
  JsonBoundError,
  JsonSyntaxError,
  type StringScan,
  skipName,
  skipScalar,
  skipSpace,
  skipString,
  skipValue,
  Utf8Error,
} from "./json-grammar.ts";
import { type Shape, shapeOf } from "./schema-shape.ts";

export interface ReadJson {
  /** A new value with only what the schema names, within the schema's bounds. */
  readonly value: unknown;
  /** Returns the text of a string in `value`. Long base64 is decoded on request, one string at a time. */
  textOf(text: string): string;
}

export interface ReadOptions {
  /** Receives the members that the schema does not name. */
  readonly unread?: IgnoredFields;
  /** Whether `null` means an absent optional member, as OpenAI's clients send it. */
  readonly isNullAbsent?: boolean;
}

/** A JSON object kept unparsed: parsed, it could take twenty times the memory. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toJSON(): unknown {
    return JSON.parse(this.text);
  }
}

/** Maximum bytes of a code point: an escaped surrogate pair. */
const BYTES_PER_CHAR = 12;
/** Longer base64 strings are left in the buffer until `textOf` is called. */
const SHORT_AUDIO_BYTES = 128 * 1024;
/** Longer names are replaced by a placeholder of this length, which no schema allows. */
const MAX_NAME_BYTES = 1024;
/** Maximum characters of a settings file, or of a setting in JSON. */
const MAX_SETTINGS_CHARS = 2 ** 20;
/** Maximum nesting of values that are kept whole. */
const MAX_DEPTH = 64;

/** Characters that make a string need decoding. */
const NOT_PLAIN = /[\\\x00-\x1f\x80-\xff]/;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads JSON in UTF-8 by a schema. Checks the syntax of all of it, and keeps only what the schema names: time is
 * linear in the length of `bytes`, and the schema bounds the size of the value. Over-long strings are replaced by
 * ones that the validator still rejects. @throws JsonSyntaxError and Utf8Error, which quote nothing; JsonBoundError
 * for JSON that is too large or too deep
 */
export function readJson(bytes: Uint8Array, schema: object, options: ReadOptions = {}): ReadJson {
  checkUtf8(bytes);
  const reader = new Reader(bytes, options);
  return { value: reader.read(shapeOf(schema)), textOf: (text) => reader.textOf(text) };
}

/** Reads a request body by its schema. Throws a 422 {@link ServiceError} that does not quote the body. */
export function readJsonBody(bytes: Uint8Array, schema: object, options: ReadOptions = {}): ReadJson {
  if (bytes.length === 0) throw new ServiceError(422, "the body is empty: send a JSON object");
  try {
    return readJson(bytes, schema, options);
  } catch (error) {
    if (error instanceof JsonSyntaxError) {
      const where = error.at >= bytes.length ? "it ends too early" : `look at byte ${error.at}`;
      throw new ServiceError(422, `the body is not valid JSON: ${where}`);
    }
    if (error instanceof Utf8Error) throw new ServiceError(422, "the body is not valid UTF-8");
    if (error instanceof JsonBoundError) throw new ServiceError(422, error.message, { param: error.path });
    throw error;
  }
}

/**
 * Reads settings and keeps everything, so that unknown ones are reported by name. @throws SyntaxError, or
 * JsonBoundError beyond a million characters or a depth of 64
 */
export function readSettingsJson(text: string): unknown {
  if (text.length > MAX_SETTINGS_CHARS)
    throw new JsonBoundError("", `has more than ${MAX_SETTINGS_CHARS} characters`);
  const value: unknown = JSON.parse(text);
  skipValue(Buffer.from(text), 0, { hasEscapes: false, isAscii: true, end: 0 }, checkDepth(""));
  return value;
}

function checkDepth(path: string): (depth: number) => void {
  return (depth) => {
    if (depth > MAX_DEPTH) throw new JsonBoundError(path, `is nested more than ${MAX_DEPTH} deep`);
  };
}

class Reader {
  readonly #bytes: Buffer;
  readonly #seen: StringScan = { hasEscapes: false, isAscii: true, end: 0 };
  /** Offsets of long base64 strings, by placeholder. */
  readonly #long = new Map<string, { from: number; to: number; hasEscapes: boolean }>();
  readonly #unread: IgnoredFields;
  readonly #isNullAbsent: boolean;
  #at: number;

  constructor(bytes: Uint8Array, { unread = new IgnoredFields(), isNullAbsent = false }: ReadOptions) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#unread = unread;
    this.#isNullAbsent = isNullAbsent;
    // Skips a byte order mark, which some editors write.
    this.#at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  }

  read(shape: Shape): unknown {
    const value = this.#value(shape, "");
    const end = skipSpace(this.#bytes, this.#at);
    if (end < this.#bytes.length) throw new JsonSyntaxError(end);
    return value;
  }

  textOf(text: string): string {
    const place = this.#long.get(text);
    if (place === undefined) return text;
    const raw = utf8.decode(this.#bytes.subarray(place.from + 1, place.to - 1));
    return place.hasEscapes ? (JSON.parse(`"${raw}"`) as string) : raw;
  }

  #value(shape: Shape, path: string): unknown {
    this.#at = skipSpace(this.#bytes, this.#at);
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
        this.#at = skipScalar(this.#bytes, from);
        return JSON.parse(this.#bytes.toString("latin1", from, this.#at));
    }
  }

  #object({ members, optional, others, maxOthers }: Shape, path: string): Record<string, unknown> {
    const kept: Record<string, unknown> = {};
    let count = 0;
    for (let isFirst = true; !this.#isClosed(0x7d, isFirst); isFirst = false) {
      const from = this.#at;
      this.#at = skipName(this.#bytes, from, this.#seen);
      const name = this.#name(from, others !== null);
      const member = members.get(name) ?? others;
      if (member === null) this.#unread.add(path, name);
      const isKept = member !== null && (members.has(name) || count++ <= maxOthers);
      if (!isKept) {
        this.#skipped(null);
        continue;
      }
      const value = this.#value(member, memberPath(path, name));
      const isAbsent = value === null && this.#isNullAbsent && optional.has(name) && !member.allowsNull;
      // The last of several members with the same name counts.
      if (isAbsent) delete kept[name];
      else keep(kept, name, value);
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

  /** Returns whether the container ends here; otherwise advances to its next member. */
  #isClosed(closing: number, isFirst: boolean): boolean {
    const at = skipSpace(this.#bytes, isFirst ? this.#at + 1 : this.#at);
    const byte = this.#bytes[at];
    if (byte === closing) {
      this.#at = at + 1;
      return true;
    }
    if (!isFirst && byte !== 0x2c) throw new JsonSyntaxError(at);
    this.#at = isFirst ? at : skipSpace(this.#bytes, at + 1);
    return false;
  }

  /** Returns the name just scanned. Names that are not ASCII are in no schema. */
  #name(from: number, isFree: boolean): string {
    const { isAscii, hasEscapes, end } = this.#seen;
    if (end - from > MAX_NAME_BYTES) return "x".repeat(MAX_NAME_BYTES);
    if (!hasEscapes && (isAscii || !isFree)) return this.#bytes.toString("latin1", from + 1, end - 1);
    return JSON.parse(this.#decoded(from, end)) as string;
  }

  #string({ maxChars, isAudio }: Shape): string {
    const from = this.#at;
    const plain = this.#plainString(isAudio ? SHORT_AUDIO_BYTES : maxChars);
    if (plain !== null) return plain;
    this.#at = skipString(this.#bytes, from, this.#seen);
    const length = this.#at - from;
    if (isAudio && length > SHORT_AUDIO_BYTES) {
      // Random, so that clients cannot send another string's placeholder.
      const mark = `\u0000${crypto.randomUUID()}`;
      this.#long.set(mark, { from, to: this.#at, hasEscapes: this.#seen.hasEscapes });
      return mark;
    }
    if (!isAudio && length > BYTES_PER_CHAR * maxChars + 2) return "x".repeat(maxChars + 1);
    return JSON.parse(this.#decoded(from)) as string;
  }

  /** Returns the string at this position if it is short plain ASCII (a fast path), else `null`. */
  #plainString(maxChars: number): string | null {
    const from = this.#at + 1;
    const end = this.#bytes.indexOf(0x22, from);
    if (end < 0 || end - from > maxChars) return null;
    const text = this.#bytes.toString("latin1", from, end);
    if (NOT_PLAIN.test(text)) return null;
    this.#at = end + 1;
    return text;
  }

  #text(maxBytes: number, path: string): JsonText {
    const from = this.#at;
    this.#at = skipValue(this.#bytes, from, this.#seen, checkDepth(path));
    if (this.#at - from > maxBytes) throw new JsonBoundError(path, `has more than ${maxBytes} bytes`);
    return new JsonText(this.#decoded(from));
  }

  #decoded(from: number, to = this.#at): string {
    return utf8.decode(this.#bytes.subarray(from, to));
  }

  #skipped<T>(placeholder: T): T {
    this.#at = skipValue(this.#bytes, this.#at, this.#seen);
    return placeholder;
  }
}

/** Sets an own property, even `__proto__`. */
function keep(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Maximum number of names reported. */
const MAX_NAMES = 8;
const MAX_NAME_CHARS = 64;

/** Paths of the fields of a request that are ignored, such as mistyped ones. */
export class IgnoredFields {
  readonly #paths = new Set<string>();
  #more = 0;

  /** @param parent path of the object that has the member; empty for the body */
  add(parent: string, name: string): void {
    if (this.#paths.size >= MAX_NAMES) {
      this.#more += 1;
      return;
    }
    this.#paths.add(memberPath(parent, sanitised(name)));
  }

  /** Adds all members that a schema does not name, at any depth that the schema describes. */
  addUnknown(schema: object, value: unknown, path = ""): void {
    const { properties, items } = schema as { properties?: Record<string, object>; items?: object };
    if (Array.isArray(value)) {
      if (items === undefined) return;
      for (const [at, item] of value.entries()) this.addUnknown(items, item, itemPath(path, at));
    } else if (properties !== undefined && value !== null && typeof value === "object") {
      for (const [name, member] of Object.entries(value)) {
        const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
        if (known === undefined) this.add(path, name);
        else this.addUnknown(known, member, memberPath(path, name));
      }
    }
  }

  get first(): string | null {
    const [first = null] = this.#paths;
    return first;
  }

  /** Returns the header `X-Antiphon-Ignored`: printable ASCII, at most 700 characters; `null` if there are none. */
  headerValue(): string | null {
    if (this.#paths.size === 0) return null;
    const more = this.#more === 0 ? [] : [`${this.#more} more`];
    return [...this.#paths, ...more].join(", ");
  }
}

export function memberPath(parent: string, name: string): string {
  return parent === "" ? name : `${parent}.${name}`;
}

export function itemPath(parent: string, at: number): string {
  return `${parent}[${at}]`;
}

/** Returns a name that is safe in a header and cannot be read as several. */
function sanitised(name: string): string {
  return name.slice(0, MAX_NAME_CHARS).replaceAll(/[^\w-]/g, "?") || "?";
}
