import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import type { StreamEvent } from "../../contract/events.ts";
import type { Marks } from "../../contract/spoken.ts";

/** The headers of a response of server-sent events. */
export const SSE_HEADERS = { "Content-Type": "text/event-stream; charset=utf-8" } as const;

/** A comment, which every reader of server-sent events skips. */
export const SSE_KEEP_ALIVE = ": keep-alive\n\n";

/** One event in the wire format of server-sent events. JSON never holds a line break, so `data:` is one line. */
export function formatEvent({ event, data }: StreamEvent): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** An `audio` event: by far the most frequent, so written without a detour through an object. */
export function formatAudioEvent(pcm: Uint8Array, index: number, marks: Marks = {}): string {
  const base64 = base64Of(pcm);
  const members = JSON.stringify(marks).slice(1, -1);
  const more = members === "" ? "" : `,${members}`;
  return `event: audio\ndata: {"pcm_b64":"${base64}","sample_rate":${SAMPLE_RATE_HZ},"index":${index}${more}}\n\n`;
}

/** Bytes in base64. */
export function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}
