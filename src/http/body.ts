import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ServiceError } from "../contract/errors.ts";
import type { Holding } from "../serving/fair-share.ts";
import { type Intake, NOTHING_HELD, type ReceivedBody } from "../serving/intake.ts";
import { SMALL_BODY_BYTES } from "../serving/preparer.ts";
import { requesterOf } from "./caller.ts";
import { ClientGoneError } from "./client-gone-error.ts";
import type { Receiving } from "./request-life.ts";

/** Makes JSON the only body there is, and leaves it as bytes; everything else is a 422 that says so. */
export function readJsonBodies(app: FastifyInstance, intake: Intake): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(/^application\/json(?:\s*;|\s*$)/i, async (request: FastifyRequest) =>
    request.routeOptions.config.access === "token" ? receive(request, intake) : null,
  );
  app.addContentTypeParser("*", (_request, _payload, done) => {
    done(new ServiceError(422, "the body must be JSON: send it with Content-Type: application/json"));
  });
}

/** The bytes of a request's body; a request without one is a 422. */
export function bodyOf(request: FastifyRequest): ReceivedBody {
  const body = request.body as ReceivedBody | null | undefined;
  if (body !== null && body !== undefined) return body;
  throw new ServiceError(422, "the body is missing: send a JSON object with Content-Type: application/json");
}

/** Waits for room for the body, tells the client to go on where it asked, and takes the body in. */
async function receive(request: FastifyRequest, intake: Intake): Promise<ReceivedBody> {
  const limitBytes = request.routeOptions.bodyLimit;
  const { raw, life } = request;
  const declared = request.headers["content-length"];
  const length = declared === undefined ? null : Number(declared);
  if (length !== null && length > limitBytes) throw tooLarge(limitBytes);
  const requester = requesterOf(request);
  const holding = await intake.admit(requester, length ?? 0);
  // Behind another's answer it would be taken for a part of that; the client goes on by itself after a while.
  if (request.headers.expect !== undefined && life.response.socket !== null) life.response.writeContinue();
  life.receiving = receivingFrom(holding);
  try {
    if (length !== null) return { bytes: await filled(request, length), holding };
    // Of a body without a length only its cap is known, once it is no small one.
    return await gathered(request, limitBytes, async () => {
      // It is not the client who keeps us waiting.
      life.receiving = null;
      const room = await intake.admit(requester, limitBytes);
      life.receiving = receivingFrom(room);
      return room;
    });
  } catch (error) {
    if (raw.destroyed || life.signal.aborted) throw new ClientGoneError("it left in the middle of its body");
    throw error;
  } finally {
    life.receiving = null;
  }
}

function receivingFrom(holding: Holding): Receiving {
  return { sinceMs: performance.now(), isCounted: holding !== NOTHING_HELD, bytes: 0 };
}

/** Straight into memory of the right size, which takes room only as it fills. */
async function filled(request: FastifyRequest, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for await (const chunk of chunks(request)) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

async function gathered(
  request: FastifyRequest,
  limitBytes: number,
  admit: () => Promise<Holding>,
): Promise<ReceivedBody> {
  let bytes = new Uint8Array(SMALL_BODY_BYTES);
  let holding = NOTHING_HELD;
  let length = 0;
  for await (const chunk of chunks(request)) {
    const at = length;
    length += chunk.length;
    if (length > limitBytes) throw tooLarge(limitBytes);
    if (length > SMALL_BODY_BYTES && holding === NOTHING_HELD) holding = await admit();
    if (length > bytes.length) bytes = grown(bytes, Math.min(limitBytes, Math.max(length, 2 * bytes.length)));
    bytes.set(chunk, at);
  }
  holding.resize(bytes.length);
  return { bytes: bytes.subarray(0, length), holding };
}

function grown(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
}

async function* chunks({ raw, life }: FastifyRequest): AsyncGenerator<Uint8Array> {
  for await (const chunk of raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
    if (life.receiving !== null) life.receiving.bytes += chunk.length;
    yield chunk;
  }
}

function tooLarge(limitBytes: number): ServiceError {
  return new ServiceError(400, `the body is over the cap of ${limitBytes} bytes: send less in one request`);
}

/** Whether so much of the request has not been read that the connection is better ended than read on. */
export function isMuchUnread({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  const length = Number(headers["content-length"] ?? Number.POSITIVE_INFINITY);
  return length > SMALL_BODY_BYTES;
}
