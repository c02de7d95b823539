import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../../contract/errors.ts";
import type { Permit } from "../../limits/keyed-semaphore.ts";
import { ClientGoneError } from "../../requests/request-context.ts";
import { GrowingBytes } from "../../serving/prepare/growing-bytes.ts";
import type { RequestByKind, RequestKind } from "../../serving/prepare/parse-body.ts";
import { SMALL_BODY_BYTES } from "../../serving/prepare/request-parser.ts";
import type {
  Caller,
  ReadRequest,
  ReceivedBody,
  RequestReader,
} from "../../serving/prepare/request-reader.ts";
import type { Receiving } from "./connection-tracker.ts";

/** Accepts only JSON bodies, and leaves them as bytes; others get a 422. */
export function readJsonBodies(app: FastifyInstance, requestReader: RequestReader): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^application\/json(?:\s*;|\s*$)/i, async (request: FastifyRequest) =>
    request.routeOptions.config.access === "token" ? receive(request, requestReader) : null,
  );
  app.addContentTypeParser("*", (_request, _payload, done) => {
    done(new ServiceError(422, "the body must be JSON: send it with Content-Type: application/json"));
  });
}

/** Returns the bytes of a request's body; throws a 422 if there is none. */
export function requireBody(request: FastifyRequest): ReceivedBody {
  const body = request.body as ReceivedBody | null | undefined;
  if (body !== null && body !== undefined) return body;
  throw new ServiceError(422, "the body is missing: send a JSON object with Content-Type: application/json");
}

/** Reads and resolves a body; a header of the reply lists its unknown fields. Rejects as `RequestReader` does. */
export async function readRequestBody<P extends Exclude<RequestKind, "telephony">>(
  purpose: P,
  requestReader: RequestReader,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ReadRequest<RequestByKind[P]>> {
  const asked = await requestReader.read(purpose, requireBody(request), request.tracked.caller);
  if (asked.prepared.unread !== undefined) reply.header("X-Antiphon-Ignored", asked.prepared.unread);
  return asked;
}

/** A body that is being received. */
export interface IncomingBody {
  /** The declared length; `null` if it is unknown, and then at most `limitBytes`. */
  readonly lengthBytes: number | null;
  readonly limitBytes: number;
  /** The permit for its memory so far; `null` if it is small. */
  readonly holding: () => Permit | null;
  /** The bytes as they arrive. Throws a 400 `ServiceError` beyond the limit. */
  chunks(): AsyncGenerator<Uint8Array>;
}

function receive(request: FastifyRequest, requestReader: RequestReader): Promise<ReceivedBody> {
  const room = (caller: Caller, bytes: number) => requestReader.admit(caller, bytes);
  return receiveBody(request, room, async (coming) => {
    const { lengthBytes, holding } = coming;
    const bytes = await (lengthBytes === null ? readChunked(coming) : readSized(coming, lengthBytes));
    return { bytes, holding: holding() };
  });
}

/**
 * Waits for memory for the body, sends 100 Continue if asked to, and lets `take` read the bytes. Throws a {@link
 * ClientGoneError} if the client leaves before the last of them.
 *
 * @param room reserves memory until the request ends; `null` for small sizes
 */
export async function receiveBody<T>(
  request: FastifyRequest,
  room: (caller: Caller, bytes: number) => Promise<Permit | null>,
  take: (coming: IncomingBody) => Promise<T>,
): Promise<T> {
  const limitBytes = request.routeOptions.bodyLimit;
  const { raw, tracked } = request;
  const declared = request.headers["content-length"];
  const lengthBytes = declared === undefined ? null : Number(declared);
  if (lengthBytes !== null && lengthBytes > limitBytes) throw tooLarge(limitBytes);
  const { caller } = request.tracked;
  let holding = await room(caller, lengthBytes ?? 0);
  // A pipelined 100 Continue would be read as part of an earlier answer; the client sends after a while anyway.
  if (request.headers.expect !== undefined && tracked.response.socket !== null)
    tracked.response.writeContinue();
  tracked.receiving = receivingFrom(holding);
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    let length = 0;
    let pieces = 0;
    for await (const chunk of raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      if (tracked.receiving !== null) tracked.receiving.bytes += chunk.length;
      length += chunk.length;
      pieces += 1;
      if (length > limitBytes) throw tooLarge(limitBytes);
      if (pieces > FREE_PIECES + length / MIN_PIECE_BYTES) throw tooManyChunks();
      if (lengthBytes === null && length > SMALL_BODY_BYTES && holding === null) {
        // Only the limit is known without a length. While the server waits for memory, the client is not slow.
        tracked.receiving = null;
        holding = await room(caller, limitBytes);
        tracked.receiving = receivingFrom(holding);
      }
      yield chunk;
    }
  };
  try {
    return await take({ lengthBytes, limitBytes, holding: () => holding, chunks });
  } catch (error) {
    // A stream that was read to its end is destroyed, too, although its client is still there.
    if ((raw.destroyed && !raw.complete) || tracked.signal.aborted)
      throw new ClientGoneError("it left in the middle of its body");
    throw error;
  } finally {
    tracked.receiving = null;
  }
}

/**
 * Each chunk costs some microseconds whatever its size: beyond `FREE_PIECES`, chunks must average `MIN_PIECE_BYTES`.
 */
const FREE_PIECES = 4_096;
const MIN_PIECE_BYTES = 64;

function tooManyChunks(): ServiceError {
  return new ServiceError(
    400,
    `the body comes in too many small chunks: send it in chunks of ${MIN_PIECE_BYTES} bytes or more`,
  );
}

function receivingFrom(holding: Permit | null): Receiving {
  return { sinceMs: performance.now(), isCounted: holding !== null, bytes: 0 };
}

/** Reads into a buffer of the right size, whose pages are committed only as they fill. */
async function readSized({ chunks }: IncomingBody, lengthBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(lengthBytes);
  let at = 0;
  for await (const chunk of chunks()) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

async function readChunked({ chunks, limitBytes, holding }: IncomingBody): Promise<Uint8Array> {
  const gatheredBytes = new GrowingBytes(SMALL_BODY_BYTES, limitBytes);
  for await (const chunk of chunks()) gatheredBytes.add(chunk);
  holding()?.shrink(gatheredBytes.capacity);
  return gatheredBytes.bytes;
}

function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError(400, `the body is over the cap of ${limitBytes} bytes: send less in one request`);
}
