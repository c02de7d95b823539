import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../../contract/errors.ts";
import { type ErrorEnvelope, envelope, openAiError } from "../../contract/replies.ts";
import { ClientGoneError } from "../../requests/request-context.ts";
import { SMALL_BODY_BYTES } from "../../serving/prepare/request-parser.ts";
import { toServiceError } from "../../serving/service-errors.ts";
import { type ConnectionTracker, type TrackedRequest, whenClosed } from "./connection-tracker.ts";
import { headersOf, rateHeaders, requestIdFor, retryHeaders } from "./headers.ts";
import type { HttpDeps } from "./http-deps.ts";

/** What an error is told in. */
export const JSON_TYPE = "application/json; charset=utf-8";

/** Paths that are OpenAI's, or go with them. Section 4's own keep to the envelope of section 7. */
const OPENAI_PATH = /^\/v1\/(?:audio|models)\//;

/** The envelope that the path of a request has. */
export function envelopeFor(error: ServiceError, { url, id }: FastifyRequest): ErrorEnvelope {
  return OPENAI_PATH.test(url) ? { error: openAiError(error, id) } : envelope(error, id);
}

/** The headers that a failure adds: when to retry, which methods are allowed, how to authenticate. */
function errorHeaders(error: ServiceError): Record<string, string> {
  return {
    ...(error.retryAfterMs === null ? {} : retryHeaders(error.retryAfterMs)),
    ...(error.allow.length === 0 ? {} : { Allow: error.allow.join(", ") }),
    ...(error.status === 401 ? { "WWW-Authenticate": "Bearer" } : {}),
  };
}

/** Answers any failure of a route or hook. The one place where an exception becomes a response. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof ClientGoneError) {
    // Nobody is there to answer.
    reply.hijack();
    reply.raw.destroy();
    return;
  }
  const failure = asHttpError(error);
  request.tracked.fail(failure);
  reply.code(failure.status).headers(errorHeaders(failure));
  const told = envelopeFor(failure, request);
  if (!mustDiscardBody(request.raw, reply.raw)) {
    reply.send(told);
    return;
  }
  reply.hijack();
  const headers = { ...headersOf(reply), "Content-Type": JSON_TYPE };
  answerAndDiscardBody(request.tracked, { status: failure.status, headers, body: JSON.stringify(told) });
}

/** Whether Fastify found a `Content-Type` empty, or nothing that it could be. */
export function isOfMediaType(error: unknown): boolean {
  const { code } = (error ?? {}) as Partial<FastifyError>;
  return code === "FST_ERR_CTP_INVALID_MEDIA_TYPE" || code === "FST_ERR_CTP_EMPTY_TYPE";
}

/** Finds the row of the table for whatever was thrown; what has no row is a 500 that tells the client nothing. */
export function asHttpError(error: unknown): ServiceError {
  if (isOfMediaType(error)) {
    return new ServiceError(422, "the body must be JSON: send it with Content-Type: application/json");
  }
  switch ((error as Partial<FastifyError> | null)?.code) {
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new ServiceError(422, "the body is not as long as its Content-Length says");
    case "FST_ERR_BAD_URL":
      return new ServiceError(404, "no such path: it is not a valid URL");
  }
  return toServiceError(error, "its log has the cause under the request id");
}

/** How much is read of a body that nobody wants. */
export interface DrainLimits {
  readonly maxBytes: number;
  /** Longest that nothing may come, and longest in all, in milliseconds. */
  readonly quietMs: number;
  readonly totalMs: number;
}

/** Over twice the largest recording, and about what 18 Mbit/s bring in the time there is. */
const DRAIN: DrainLimits = { maxBytes: 64 * 2 ** 20, quietMs: 5_000, totalMs: 30_000 };

/** Whether so much of the request has not been read that the connection is better ended than read on. */
export function hasLargeUnreadBody(request: IncomingMessage): boolean {
  return unreadBytes(request) > SMALL_BODY_BYTES;
}

/** Whether an answer that is given now ends the connection while its client still sends. */
export function mustDiscardBody(request: IncomingMessage, response: ServerResponse): boolean {
  const isLast = !response.shouldKeepAlive || response.getHeader("Connection") === "close";
  return hasLargeUnreadBody(request) || (isLast && unreadBytes(request) > 0);
}

/** A whole answer to a request whose body is not wanted. */
export interface EarlyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Answers at once, and ends the connection once the client has sent the rest of its body, which is thrown away, or has
 * gone, or has sent for long enough. Ended right away, the connection would be reset while the client still sends, and
 * most clients lose an answer with that which they have not read yet (RFC 9112, section 9.6). The request itself is over
 * when its answer is out: a server that stops does not wait for the rest.
 */
export function answerAndDiscardBody(
  tracked: TrackedRequest,
  { status, headers, body }: EarlyAnswer,
  limits: DrainLimits = DRAIN,
): void {
  const { request, response } = tracked;
  response.writeHead(status, {
    ...headers,
    "Content-Length": `${Buffer.byteLength(body)}`,
    Connection: "close",
  });
  response.write(body, (error) => {
    // The client has gone.
    if (error) return;
    tracked.answered();
    // Whoever waits for the end before it sends no more has it.
    request.socket.end();
    discardRest(request, limits);
  });
  // An answer to HEAD has no body that would take its headers along.
  response.flushHeaders();
}

/** Reads the rest of a request, and destroys its connection. */
function discardRest(request: IncomingMessage, { maxBytes, quietMs, totalMs }: DrainLimits): void {
  const { socket } = request;
  const end = () => socket.destroy();
  const quiet = setTimeout(end, quietMs).unref();
  const total = setTimeout(end, totalMs).unref();
  whenClosed(socket, () => {
    clearTimeout(quiet);
    clearTimeout(total);
  });
  let bytes = 0;
  request.on("data", (piece: Uint8Array) => {
    bytes += piece.length;
    if (bytes > maxBytes) end();
    else quiet.refresh();
  });
  request.once("end", () => socket.destroySoon());
}

/** Of the request's body, as far as the client has said; what has come of it counts until all of it has. */
function unreadBytes({ complete, headers }: IncomingMessage): number {
  if (complete) return 0;
  if (headers["transfer-encoding"] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers["content-length"] ?? 0);
}

interface SocketError extends Error {
  readonly code?: string;
}

/**
 * Answers what is no HTTP request at all (garbage, headers too large or too slow) with an envelope, then closes. Behind
 * a request that is still to be answered nothing is written: it would be taken for a part of that answer.
 */
export function answerMalformedRequests(
  app: FastifyInstance,
  { tenancy, metrics, logger }: Pick<HttpDeps, "tenancy" | "metrics" | "logger">,
  connections: ConnectionTracker,
): void {
  const answered = new WeakSet<Socket>();
  app.server.removeAllListeners("clientError");
  app.server.on("clientError", (error: SocketError, stream) => {
    const socket = stream as Socket;
    const next = connections.nextOn(socket);
    const hasLeft = error.code === "ECONNRESET" || (next !== null && error.code === LEFT_IN_BODY);
    // What is sent behind it is broken for as long as it is sent, and a reset would take the answer away.
    if (answered.has(socket) && !hasLeft) return;
    if (hasLeft || !socket.writable) {
      socket.destroy();
      return;
    }
    if (next?.request.complete === true) {
      connections.endAfter(socket);
      return;
    }
    const failure = new ServiceError(400, malformedMessage(error.code));
    // The body of this one came too slowly, or was none.
    if (next !== null) {
      next.fail(failure);
      next.rawStatus = failure.status;
    }
    const requestId = requestIdFor(undefined);
    const body = JSON.stringify(envelope(failure, requestId));
    const headers = {
      "Content-Type": JSON_TYPE,
      "Content-Length": `${Buffer.byteLength(body)}`,
      Connection: "close",
      "X-Request-ID": requestId,
      ...rateHeaders(tenancy.recallAnonymous(`${socket.remoteAddress}`)),
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    answered.add(socket);
    // Whoever sends on, or keeps its side open, is not waited for.
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join("")}\r\n${body}`);
    if (next !== null) return;
    const { type } = failure;
    const http = { method: "none", status: 400 };
    metrics.ended({ route: "none", http, ending: "failed", seconds: null, type });
    logger.info({ request_id: requestId, status: 400, end: "failed", error: failure.type }, "no request");
  });
}

const LINGER_MS = 1_000;

/** The client closed its side in the middle of a request. */
const LEFT_IN_BODY = "HPE_INVALID_EOF_STATE";

function malformedMessage(code: string | undefined): string {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return "the request's headers are over 16 KiB: send fewer or shorter ones";
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return "the request came too slowly: send it faster";
    default:
      return "this is not a valid HTTP request";
  }
}
