import { ServiceError } from "../../contract/errors.ts";
import { readJson } from "../../contract/json/read-json.ts";
import { isRecord } from "../../core/is-record.ts";

/** Maximum bytes of an event's line, data and payload. The payload holds half a minute of speech at 16 kHz. */
export const MAX_HEADER_BYTES = 128 * 1024;
export const MAX_DATA_BYTES = 128 * 1024;
export const MAX_PAYLOAD_BYTES = 1024 * 1024;

/** Fields read from events. Their types are checked where they are used. */
const DATA = {
  properties: {
    text: {},
    text_format: {},
    language: {},
    voice: { properties: { name: {}, language: {}, speaker: {} } },
    rate: {},
    width: {},
    channels: {},
  },
};
const LINE = { properties: { type: {}, data: DATA, data_length: {}, payload_length: {} } };

/** Parses events from bytes split anywhere. Keeps at most one event beyond the last chunk. */
export class EventParser {
  #memory: Buffer<ArrayBuffer> = Buffer.alloc(0);
  #from = 0;
  #to = 0;
  /** End of the range already searched for a line end. */
  #searchedTo = 0;
  #header: Header | null = null;

  get waitingBytes(): number {
    return this.#to - this.#from;
  }

  get hasPartialEvent(): boolean {
    return this.#header !== null || this.waitingBytes > 0;
  }

  push(piece: Uint8Array): void {
    this.#makeRoom(piece.length);
    this.#memory.set(piece, this.#to);
    this.#to += piece.length;
  }

  /** Returns the next complete event, or `null`. Throws a 422 {@link ServiceError} for an invalid one. */
  next(): ReceivedEvent | null {
    this.#header ??= this.#takeHeader();
    if (this.#header === null) return null;
    const { type, inline, lineBytes, dataBytes, payloadBytes } = this.#header;
    if (this.waitingBytes < dataBytes + payloadBytes) return null;
    const data = dataBytes === 0 ? inline : { ...inline, ...readObject(this.#take(dataBytes), DATA, "data") };
    // Copied, since the memory is reused.
    const payload = payloadBytes === 0 ? null : Uint8Array.from(this.#take(payloadBytes));
    this.#header = null;
    if (this.waitingBytes === 0) this.#startOver();
    return { type, data, payload, jsonBytes: lineBytes + dataBytes };
  }

  #takeHeader(): Header | null {
    const end = this.#memory.subarray(0, this.#to).indexOf(NEW_LINE, this.#searchedTo);
    const length = (end === -1 ? this.#to : end) - this.#from;
    if (length > MAX_HEADER_BYTES) throw tooLong("its line", MAX_HEADER_BYTES);
    this.#searchedTo = this.#to;
    if (end === -1) return null;
    const header = readHeader(this.#take(length));
    this.#from += 1;
    this.#searchedTo = this.#from;
    return header;
  }

  #take(bytes: number): Uint8Array {
    const taken = this.#memory.subarray(this.#from, this.#from + bytes);
    this.#from += bytes;
    this.#searchedTo = this.#from;
    return taken;
  }

  /**
   * Moves the remaining bytes to the front of memory that doubles, so that small chunks cost no more than large ones.
   */
  #makeRoom(bytes: number): void {
    if (this.#to + bytes <= this.#memory.length) return;
    const needed = this.waitingBytes + bytes;
    const isMuchFree = 2 * needed <= this.#memory.length;
    const memory = isMuchFree ? this.#memory : Buffer.alloc(Math.max(needed, 2 * this.#memory.length, 1024));
    this.#memory.copy(memory, 0, this.#from, this.#to);
    this.#memory = memory;
    this.#searchedTo -= this.#from;
    this.#to -= this.#from;
    this.#from = 0;
  }

  #startOver(): void {
    [this.#from, this.#to, this.#searchedTo] = [0, 0, 0];
    if (this.#memory.length > KEPT_BYTES) this.#memory = Buffer.alloc(0);
  }
}

interface Header {
  readonly type: string;
  /** Data inside the line, as older clients send it. */
  readonly inline: Readonly<Record<string, unknown>>;
  readonly lineBytes: number;
  readonly dataBytes: number;
  readonly payloadBytes: number;
}

const NEW_LINE = 0x0a;
/** Bytes of a large event's memory kept for the next event. */
const KEPT_BYTES = 64 * 1024;

function readHeader(line: Uint8Array): Header {
  const { type, data, data_length, payload_length } = readObject(line, LINE, "line");
  if (typeof type !== "string" || type === "") {
    throw new ServiceError(
      422,
      "the event has no type: its line must be an object with a type that is a string",
    );
  }
  const inline = data ?? {};
  if (!isRecord(inline)) throw new ServiceError(422, "the event's data must be an object");
  return {
    type,
    inline,
    lineBytes: line.length,
    dataBytes: readLength("data_length", data_length, MAX_DATA_BYTES),
    payloadBytes: readLength("payload_length", payload_length, MAX_PAYLOAD_BYTES),
  };
}

function readLength(name: string, value: unknown, max: number): number {
  if (value === undefined || value === null) return 0;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw new ServiceError(422, `the event's ${name} must be a whole number of bytes`);
  }
  if (value > max) throw tooLong(`its ${name}`, max);
  return value;
}

function readObject(bytes: Uint8Array, schema: object, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    ({ value } = readJson(bytes, schema));
  } catch {
    throw new ServiceError(
      422,
      `the event's ${what} is not JSON in UTF-8: send Wyoming's events here, not HTTP`,
    );
  }
  if (!isRecord(value)) throw new ServiceError(422, `the event's ${what} must be an object`);
  return value;
}

function tooLong(what: string, max: number): ServiceError {
  return new ServiceError(422, `the event is too long: ${what} may have ${max} bytes`);
}

export interface WyomingEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Raw audio; `null` without any. */
  readonly payload: Uint8Array | null;
}

export interface ReceivedEvent extends WyomingEvent {
  /** Bytes of its line and data, which were parsed. */
  readonly jsonBytes: number;
}

export function wyomingEvent(
  type: string,
  data: Readonly<Record<string, unknown>> = {},
  payload: Uint8Array | null = null,
): WyomingEvent {
  return { type, data, payload };
}

/**
 * Encodes an event: a JSON line with its type and lengths, its data as JSON, its payload. Empty parts are omitted.
 */
export function encodeEvent({ type, data, payload }: WyomingEvent): Uint8Array {
  const json = Object.keys(data).length === 0 ? null : Buffer.from(JSON.stringify(data));
  const hasPayload = payload !== null && payload.length > 0;
  const header = {
    type,
    version: PROTOCOL_VERSION,
    ...(json === null ? {} : { data_length: json.length }),
    ...(hasPayload ? { payload_length: payload.length } : {}),
  };
  const line = Buffer.from(`${JSON.stringify(header)}\n`);
  return Buffer.concat([line, ...(json === null ? [] : [json]), ...(hasPayload ? [payload] : [])]);
}

/** Release of the Python package `wyoming` with these events. Receivers ignore it. */
const PROTOCOL_VERSION = "1.10.2";

/** Points of an event outside a request, plus its bytes and those of its answer: a `describe` costs 4,000 in all. */
const EVENT_POINTS = 1_000;
/** Points of an event inside a request, plus its bytes. */
const INSIDE_POINTS = 256;
/** Payload bytes per point: many, since a payload is copied, not parsed. */
const PAYLOAD_BYTES_PER_POINT = 16;
/** Points that each spoken character offsets: many, since a request has few characters and pays for them. */
const POINTS_PER_CHARACTER = 64;

/** Returns the points of an event that belongs to no request. */
export function pointsOutside({ jsonBytes, payload }: ReceivedEvent): number {
  return EVENT_POINTS + jsonBytes + (payload?.length ?? 0) / PAYLOAD_BYTES_PER_POINT;
}

/** Returns the points of a part of a recording: 0 unless it is tiny, since the length of a recording is bounded. */
export function pointsOfAudio({ jsonBytes, payload }: ReceivedEvent): number {
  return Math.max(0, INSIDE_POINTS + jsonBytes - (payload?.length ?? 0));
}

/** Returns the points of a part of a text, of which `chars` characters are spoken and paid for by the request. */
export function pointsOfText({ jsonBytes }: ReceivedEvent, chars: number): number {
  return Math.max(0, INSIDE_POINTS + jsonBytes - POINTS_PER_CHARACTER * chars);
}
