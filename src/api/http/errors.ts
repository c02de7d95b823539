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

export const JSON_TYPE = "application/json; charset=utf-8";

/** Paths of OpenAI's API. The others use the envelope of the specification's section 7. */
const OPENAI_PATH = /^\/v1\/(?:audio|models)\//;

export function envelopeFor(error: ServiceError, { url, id }: FastifyRequest): ErrorEnvelope {
  return OPENAI_PATH.test(url) ? { error: openAiError(error, id) } : envelope(error, id);
}

function errorHeaders(error: ServiceError): Record<string, string> {
  return {
    ...(error.retryAfterMs === null ? {} : retryHeaders(error.retryAfterMs)),
    ...(error.allow.length === 0 ? {} : { Allow: error.allow.join(", ") }),
    ...(error.status === 401 ? { "WWW-Authenticate": "Bearer" } : {}),
  };
}

/** Answers with an error: the only place where an exception becomes a response. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof ClientGoneError) {
    reply.hijack();
    reply.raw.destroy();
    return;
  }
  const failure = asHttpError(error);
  request.tracked.fail(failure);
  reply.code(failure.status).headers(errorHeaders(failure));
  const payload = envelopeFor(failure, request);
  if (!mustDiscardBody(request.raw, reply.raw)) {
    reply.send(payload);
    return;
  }
  reply.hijack();
  const headers = { ...headersOf(reply), "Content-Type": JSON_TYPE };
  answerAndDiscardBody(request.tracked, { status: failure.status, headers, body: JSON.stringify(payload) });
}

/** Whether Fastify rejected the `Content-Type` as empty or invalid. */
export function isOfMediaType(error: unknown): boolean {
  const { code } = (error ?? {}) as Partial<FastifyError>;
  return code === "FST_ERR_CTP_INVALID_MEDIA_TYPE" || code === "FST_ERR_CTP_EMPTY_TYPE";
}

/** Converts anything thrown to an error of the contract; unknown ones become a 500 that reveals nothing. */
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

/** Limits for discarding a body that is not wanted. */
export interface DrainLimits {
  readonly maxBytes: number;
  /** Milliseconds without any bytes, and in total. */
  readonly quietMs: number;
  readonly totalMs: number;
}

/** Over twice the largest recording, and about what 18 Mbit/s bring in `totalMs`. */
const DRAIN: DrainLimits = { maxBytes: 64 * 2 ** 20, quietMs: 5_000, totalMs: 30_000 };

/** Whether so much is unread that closing the connection is better than reading on. */
export function hasLargeUnreadBody(request: IncomingMessage): boolean {
  return unreadBytes(request) > SMALL_BODY_BYTES;
}

/** Whether answering now ends the connection while its client still sends. */
export function mustDiscardBody(request: IncomingMessage, response: ServerResponse): boolean {
  const isLast = !response.shouldKeepAlive || response.getHeader("Connection") === "close";
  return hasLargeUnreadBody(request) || (isLast && unreadBytes(request) > 0);
}

export interface EarlyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Answers immediately and discards the rest of the body before it closes the connection: a connection closed earlier
 * is reset, and most clients then lose the answer (RFC 9112, section 9.6). The request ends with its answer, so that
 * a server that stops does not wait for the rest.
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
    if (error) return;
    tracked.answered();
    // Ends our side first: some clients read the answer to its end before they send more.
    request.socket.end();
    discardRest(request, limits);
  });
  // Without a body, as for HEAD, nothing else sends the headers.
  response.flushHeaders();
}

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

/** Returns the declared size of a body until all of it has arrived. */
function unreadBytes({ complete, headers }: IncomingMessage): number {
  if (complete) return 0;
  if (headers["transfer-encoding"] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers["content-length"] ?? 0);
}

/**
 * Answers malformed requests (garbage, headers too large or too slow) with an envelope and closes. Writes nothing
 * after a request that is still to be answered, since it would be taken for part of that answer.
 */
export function answerMalformedRequests(
  app: FastifyInstance,
  { tenancy, metrics, logger }: Pick<HttpDeps, "tenancy" | "metrics" | "logger">,
  connections: ConnectionTracker,
): void {
  const answered = new WeakSet<Socket>();
  app.server.removeAllListeners("clientError");
  app.server.on("clientError", (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    const next = connections.nextOn(socket);
    const hasLeft = error.code === "ECONNRESET" || (next !== null && error.code === LEFT_IN_BODY);
    // Later input is part of the same broken request, and a reset would discard the answer.
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
    // The body came too slowly or was invalid.
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
    // Does not wait for clients that send on or keep their side open.
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

/** The client closed its side during a request. */
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
