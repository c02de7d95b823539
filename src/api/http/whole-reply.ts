import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Encoding } from "../../audio/encode/encoder.ts";
import { SAMPLE_RATE_HZ } from "../../audio/format.ts";
import { joinedBytes } from "../../audio/joined.ts";
import { ServiceError } from "../../contract/errors.ts";
import type { AudioPayload } from "../../contract/replies.ts";
import type { Prepared } from "../../serving/prepare/prepare.ts";
import type { ReadRequest } from "../../serving/prepare/request-reader.ts";
import { mostSpokenS } from "../../serving/prepare/speech-length.ts";
import type { SpokenPiece } from "../../serving/reply/reply-chunk.ts";
import type { Outcome } from "../../serving/reply/speech-service.ts";
import type { HttpDeps } from "./deps.ts";

/** A whole reply: one file, in pieces, and how it went. */
interface Collected {
  readonly file: readonly Uint8Array[];
  readonly outcome: Outcome;
}

/**
 * Waits for a whole reply; stops when the client leaves, or with a 502 past the deadline. Its memory is counted from
 * before it is spoken until its client has taken it.
 */
export async function collect(
  { replies, service, options }: HttpDeps,
  { prepared, audio }: ReadRequest,
  request: FastifyRequest,
  encoding: Encoding = "wav",
): Promise<Collected> {
  const { caller } = request.tracked;
  const beganMs = performance.now();
  const holding = await replies.enter(caller.keyId, expectedBytes(prepared), caller.signal);
  caller.keep(holding);
  const limit = { ms: options.collectTimeoutMs - (performance.now() - beganMs), late: tooLate };
  const speech = service.converse(prepared, {
    ...caller,
    encoding,
    limit,
    takesAudioAsItComes: false,
    isPlayed: false,
    onHeard: () => audio?.release(),
  });
  const { file, outcome } = await gather(speech);
  // A file's head is in its first piece.
  file[0]?.set(outcome.finishedHead);
  holding.shrink(lengthOf(file));
  return { file, outcome };
}

/** Tells in a header that a reply ends before its text does. */
export function tellCut(reply: FastifyReply, { meta }: Outcome): void {
  if (meta.stop === "length") reply.header("X-Antiphon-Stop", "length");
}

/** How JSON carries a reply's WAV: `sendJsonAround` puts the bytes in. */
export function audioPayload({ delivery }: Prepared): AudioPayload {
  return {
    sample_rate: SAMPLE_RATE_HZ,
    audio_quality: delivery.quality,
    data_b64: BASE64,
    format: "wav",
  };
}

/** What a reply takes at most. */
function expectedBytes(prepared: Prepared): number {
  return Math.ceil(mostSpokenS(prepared) * SAMPLE_RATE_HZ) * Int16Array.BYTES_PER_ELEMENT;
}

async function gather(speech: AsyncGenerator<SpokenPiece, Outcome, void>) {
  const file: Uint8Array[] = [];
  let step = await speech.next();
  while (!step.done) {
    file.push(step.value.bytes);
    step = await speech.next();
  }
  return { file, outcome: step.value };
}

function lengthOf(file: readonly Uint8Array[]): number {
  return file.reduce((sum, { length }) => sum + length, 0);
}

function tooLate(): ServiceError {
  return new ServiceError(502, "the reply took too long: ask for a shorter one", { retryAfterMs: 1_000 });
}

/** So much is written at once: small enough that a reader who takes it slowly is seen to take it. Divisible by 3. */
const SLICE_BYTES = 48 * 1024;

/** Where base64 goes in a value that {@link sendJsonAround} sends. */
const BASE64 = "\u0000base64\u0000";
const BASE64_IN_JSON = JSON.stringify(BASE64).slice(1, -1);

/** Answers with a file that may be large, a slice at a time as it is read. */
export function sendFile(reply: FastifyReply, file: readonly Uint8Array[], mediaType: string): FastifyReply {
  const bytes = joinedBytes(file);
  reply.headers({ "Content-Type": mediaType, "Content-Length": bytes.length });
  const isShort = bytes.length <= 2 * SLICE_BYTES;
  return reply.send(isShort ? bytes : Readable.from(slices(bytes), { objectMode: false }));
}

/**
 * Answers with JSON in which the last {@link BASE64} stands for a file in base64. It is encoded as it is read, so that a
 * reply that waits for its reader takes no more memory than its bytes.
 */
export function sendJsonAround(
  reply: FastifyReply,
  value: object,
  file: readonly Uint8Array[],
): FastifyReply {
  const json = JSON.stringify(value);
  // The last: a client's own words, which may hold anything, come before, in `text` and in `meta`.
  const at = json.lastIndexOf(BASE64_IN_JSON);
  const before = json.slice(0, at);
  const after = json.slice(at + BASE64_IN_JSON.length);
  const length = Buffer.byteLength(before) + 4 * Math.ceil(lengthOf(file) / 3) + Buffer.byteLength(after);
  reply.headers({ "Content-Type": "application/json; charset=utf-8", "Content-Length": length });
  const parts = around(before, file, after);
  if (length <= 2 * SLICE_BYTES) return reply.send([...parts].join(""));
  // Handed on as strings: memory outside the heap, as buffers have it, makes its collection come more often.
  return reply.send(Readable.from(parts, { objectMode: false, encoding: "utf8" }));
}

function* around(before: string, file: readonly Uint8Array[], after: string): Generator<string> {
  yield before;
  const slice = Buffer.allocUnsafeSlow(SLICE_BYTES);
  let filled = 0;
  for (const piece of file) {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + SLICE_BYTES - filled);
      slice.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < SLICE_BYTES) continue;
      yield slice.toString("base64");
      filled = 0;
    }
  }
  if (filled > 0) yield slice.toString("base64", 0, filled);
  yield after;
}

function* slices(bytes: Uint8Array): Generator<Buffer> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < all.length; at += SLICE_BYTES) yield all.subarray(at, at + SLICE_BYTES);
}
