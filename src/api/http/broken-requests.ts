import type { Socket } from "node:net";
import type { FastifyInstance } from "fastify";
import { ServiceError } from "../../contract/errors.ts";
import { envelope } from "../../contract/replies.ts";
import type { ConnectionTracker } from "./connection-tracker.ts";
import type { HttpDeps } from "./deps.ts";
import { JSON_TYPE } from "./errors.ts";
import { rateHeaders, requestIdFor } from "./headers.ts";

interface SocketError extends Error {
  readonly code?: string;
}

/**
 * Answers what is no HTTP request at all (garbage, headers too large or too slow) with an envelope, then closes. Behind
 * a request that is still to be answered nothing is written: it would be taken for a part of that answer.
 */
export function answerBrokenRequests(
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
    const failure = new ServiceError(400, complaint(error.code));
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

function complaint(code: string | undefined): string {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return "the request's headers are over 16 KiB: send fewer or shorter ones";
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return "the request came too slowly: send it faster";
    default:
      return "this is not a valid HTTP request";
  }
}
