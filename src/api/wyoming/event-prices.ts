import type { ReceivedEvent } from "./event.ts";

/** Points of an event outside a request, in addition to its bytes and those of its answer: a `describe` costs 4,000 in all. */
const EVENT_POINTS = 1_000;
/** Points of an event inside a request, in addition to its bytes. */
const INSIDE_POINTS = 256;
/** Payload bytes per point: a payload is copied, not parsed. */
const PAYLOAD_BYTES_PER_POINT = 16;
/** A request has few characters, so each of them pays for much. */
const POINTS_PER_CHARACTER = 64;

/** Returns the points of an event that belongs to no request. */
export function priceOutside({ jsonBytes, payload }: ReceivedEvent): number {
  return EVENT_POINTS + jsonBytes + (payload?.length ?? 0) / PAYLOAD_BYTES_PER_POINT;
}

/** Returns the points of a piece of a recording: 0 unless it is tiny, since the length of a recording is bounded. */
export function priceOfSound({ jsonBytes, payload }: ReceivedEvent): number {
  return Math.max(0, INSIDE_POINTS + jsonBytes - (payload?.length ?? 0));
}

/** Returns the points of a piece of a text of which `chars` characters are spoken. */
export function priceOfWords({ jsonBytes }: ReceivedEvent, chars: number): number {
  return Math.max(0, INSIDE_POINTS + jsonBytes - POINTS_PER_CHARACTER * chars);
}
