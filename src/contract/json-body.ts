import { AudioSpeechRequest } from "./audio-speech.ts";
import { ServiceError } from "./errors.ts";
import {
  afterName,
  afterScalar,
  afterSpace,
  afterString,
  afterText,
  afterValue,
  JsonGrammarError,
  type Seen,
  Utf8Error,
} from "./json-grammar.ts";
import { ConverseRequest, TtsRequest } from "./requests.ts";
import { VendorRequest, VoiceRequest } from "./telephony.ts";
import { itemPath, memberPath, UnreadFields } from "./unread-fields.ts";

/** A body that was read. */
export interface JsonBody {
  readonly value: unknown;
  /** The text that a string of `value` stands for: long audio is read only here, one at a time. */
  textOf(text: string): string;
}

/** A string longer than this, in bytes as sent, is audio or over every cap: 8,000 characters take at most 96,000. */
const LONG_BYTES = 128 * 1024;
/** Items of an array that are kept: more than any array may have. */
const KEPT_ITEMS = 100;
/** Members that are kept of an object whose names are the client's own: more than any may have. */
const KEPT_FREE_MEMBERS = 101;
/** A name longer than this, in bytes as sent, is over every cap; what stands for it has a length that says so. */
const LONG_NAME_BYTES = 1024;
/** How deep requests are nested: the body, its conversation, a turn. Objects and arrays further in become empty ones. */
const KEPT_DEPTH = 3;
/** What stands for a long text of which only the length matters. */
const TOO_LONG = "x".repeat(10_000);

const SCHEMAS = [TtsRequest, ConverseRequest, AudioSpeechRequest, VoiceRequest, VendorRequest];
const NAMES = new Set(SCHEMAS.flatMap((schema) => membersIn(schema)).map(([name]) => name));
/** Members that are objects whose own members may have any name. */
const FREE = new Set(
  SCHEMAS.flatMap((schema) => membersIn(schema)).flatMap(([name, schema]) =>
    "additionalProperties" in schema ? [name] : [],
  ),
);
const AUDIO_NAME = "audio_wav_b64";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads a request body: UTF-8 and JSON. The whole of it is checked, and only what a request may have is kept, so that
 * time is in proportion to its length and memory to what is meant, however it is nested and however much is ignored.
 * Throws a 422 {@link ServiceError} that quotes nothing of the body.
 *
 * @param unread gets the members that no request has, which are passed over
 */
export function readJsonBody(bytes: Uint8Array, unread = new UnreadFields()): JsonBody {
  if (bytes.length === 0) throw new ServiceError(422, "the body is empty: send a JSON object");
  const reader = new BodyReader(bytes, unread);
  try {
    return { value: reader.read(), textOf: (text) => reader.textOf(text) };
  } catch (error) {
    if (error instanceof JsonGrammarError) {
      const where = error.at >= bytes.length ? "it ends too early" : `look at byte ${error.at}`;
      throw new ServiceError(422, `the body is not valid JSON: ${where}`);
    }
    if (error instanceof Utf8Error) throw new ServiceError(422, "the body is not valid UTF-8");
    throw error;
  }
}

/** Reads the body of a request that may have anything in it, all of which is kept. Throws as {@link readJsonBody} does. */
export function readWholeJsonBody(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch (error) {
    // It knows where the fault is, and quotes nothing.
    readJsonBody(bytes);
    throw error;
  }
}

class BodyReader {
  readonly #bytes: Uint8Array;
  readonly #seen: Seen = { hasEscapes: false, isAscii: true };
  /** Where long audio is, by what stands for it. */
  readonly #long = new Map<string, { from: number; to: number; hasEscapes: boolean }>();
  readonly #unread: UnreadFields;
  #at: number;

  constructor(bytes: Uint8Array, unread: UnreadFields) {
    this.#bytes = bytes;
    this.#unread = unread;
    // A byte order mark, which some editors put before everything.
    this.#at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  }

  read(): unknown {
    const value = this.#value(1, "", "");
    const end = afterSpace(this.#bytes, this.#at);
    if (end < this.#bytes.length) throw new JsonGrammarError(end);
    return value;
  }

  textOf(text: string): string {
    const place = this.#long.get(text);
    if (place === undefined) return text;
    const raw = utf8.decode(this.#bytes.subarray(place.from + 1, place.to - 1));
    return place.hasEscapes ? (JSON.parse(`"${raw}"`) as string) : raw;
  }

  /**
   * @param name of the member that it is the value of
   * @param path of the value
   */
  #value(depth: number, name: string, path: string): unknown {
    this.#at = afterSpace(this.#bytes, this.#at);
    const from = this.#at;
    switch (this.#bytes[from]) {
      case 0x7b:
        return depth > KEPT_DEPTH ? this.#skipped({}) : this.#object(depth, path, FREE.has(name));
      case 0x5b:
        return depth > KEPT_DEPTH ? this.#skipped([]) : this.#array(depth, path);
      case 0x22:
        return this.#string(name);
      default:
        this.#at = afterScalar(this.#bytes, from);
        return JSON.parse(utf8.decode(this.#bytes.subarray(from, this.#at)));
    }
  }

  /** @param isFree whether its members may have any name */
  #object(depth: number, path: string, isFree: boolean): Record<string, unknown> {
    const kept: Record<string, unknown> = {};
    let count = 0;
    for (let isFirst = true; !this.#isClosed(0x7d, isFirst); isFirst = false) {
      const from = this.#at;
      this.#at = afterName(this.#bytes, from, this.#seen);
      const name = isFree ? this.#freeName(from) : this.#name(from, path);
      if (name === null || (isFree && count++ >= KEPT_FREE_MEMBERS)) this.#skipped(null);
      else if (isFree) keep(kept, name, this.#value(depth + 1, "", ""));
      else kept[name] = this.#value(depth + 1, name, memberPath(path, name));
    }
    return kept;
  }

  #array(depth: number, path: string): unknown[] {
    const kept: unknown[] = [];
    for (let isFirst = true; !this.#isClosed(0x5d, isFirst); isFirst = false) {
      if (kept.length < KEPT_ITEMS) kept.push(this.#value(depth + 1, "", itemPath(path, kept.length)));
      else this.#skipped(null);
    }
    return kept;
  }

  /** Whether the container ends here; otherwise goes to its next member. */
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

  /** The name of a member that is kept, else null. Names are short, and most have no escapes. */
  #name(from: number, path: string): string | null {
    const to = afterString(this.#bytes, from, this.#seen);
    const name =
      to - from > 200 ? TOO_LONG : (JSON.parse(utf8.decode(this.#bytes.subarray(from, to))) as string);
    if (NAMES.has(name)) return name;
    this.#unread.add(path, name);
    return null;
  }

  /** Any name, but for one that is too long. */
  #freeName(from: number): string {
    const to = afterString(this.#bytes, from, this.#seen);
    if (to - from > LONG_NAME_BYTES) return TOO_LONG;
    return JSON.parse(utf8.decode(this.#bytes.subarray(from, to))) as string;
  }

  #string(name: string): string {
    const from = this.#at;
    this.#at = afterText(this.#bytes, from, this.#seen);
    const to = this.#at;
    if (to - from <= LONG_BYTES) return JSON.parse(utf8.decode(this.#bytes.subarray(from, to))) as string;
    if (name !== AUDIO_NAME) return TOO_LONG;
    // Nobody can guess it, and so name a text that is not theirs.
    const mark = `\u0000${crypto.randomUUID()}`;
    this.#long.set(mark, { from, to, hasEscapes: this.#seen.hasEscapes });
    return mark;
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

/** Every member that a schema names, however deep, with its own schema. */
function membersIn(schema: object): [name: string, schema: object][] {
  return Object.entries(schema).flatMap(([key, part]): [string, object][] => {
    if (part === null || typeof part !== "object") return [];
    if (key !== "properties") return membersIn(part as object);
    const members = Object.entries(part as Record<string, object>);
    return [...members, ...members.flatMap(([, member]) => membersIn(member))];
  });
}
