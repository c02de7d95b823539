import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";

/** So much is written at once: small enough that a reader who takes it slowly is seen to take it. Divisible by 3. */
const SLICE_BYTES = 48 * 1024;

/** Where base64 goes in a value that {@link sendJsonAround} sends. */
export const BASE64 = "\u0000base64\u0000";
const BASE64_IN_JSON = JSON.stringify(BASE64).slice(1, -1);

/** Answers with bytes that may be many, a slice at a time as they are read. */
export function sendBytes(reply: FastifyReply, bytes: Uint8Array, mediaType: string): FastifyReply {
  reply.headers({ "Content-Type": mediaType, "Content-Length": bytes.length });
  return send(reply, slices(bytes), bytes.length);
}

/**
 * Answers with JSON in which the last {@link BASE64} stands for bytes in base64. They are encoded as they are read, so
 * that a reply that waits for its reader takes no more memory than its bytes.
 */
export function sendJsonAround(reply: FastifyReply, value: object, bytes: Uint8Array): FastifyReply {
  const json = JSON.stringify(value);
  // The last: a client's own words, which may hold anything, come before, in `text` and in `meta`.
  const at = json.lastIndexOf(BASE64_IN_JSON);
  const before = Buffer.from(json.slice(0, at));
  const after = Buffer.from(json.slice(at + BASE64_IN_JSON.length));
  const length = before.length + 4 * Math.ceil(bytes.length / 3) + after.length;
  reply.headers({ "Content-Type": "application/json; charset=utf-8", "Content-Length": length });
  return send(reply, around(before, bytes, after), length);
}

function send(reply: FastifyReply, parts: Iterable<Buffer>, length: number): FastifyReply {
  const isShort = length <= 2 * SLICE_BYTES;
  return reply.send(isShort ? Buffer.concat([...parts]) : Readable.from(parts, { objectMode: false }));
}

function* around(before: Buffer, bytes: Uint8Array, after: Buffer): Generator<Buffer> {
  yield before;
  for (const slice of slices(bytes)) yield Buffer.from(slice.toString("base64"), "latin1");
  yield after;
}

function* slices(bytes: Uint8Array): Generator<Buffer> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < all.length; at += SLICE_BYTES) yield all.subarray(at, at + SLICE_BYTES);
}
