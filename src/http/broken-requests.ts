import type { FastifyInstance } from "fastify";
import { ServiceError } from "../contract/errors.ts";
import type { Tenancy } from "../tenancy/tenancy.ts";
import { envelope } from "./errors.ts";
import { rateHeaders } from "./rate-headers.ts";
import { requestIdFor } from "./request-id.ts";

interface SocketError extends Error {
  readonly code?: string;
}

/** Answers what is no HTTP request at all (garbage, headers too large or too slow) with an envelope, then closes. */
export function answerBrokenRequests(app: FastifyInstance, tenancy: Tenancy): void {
  app.server.removeAllListeners("clientError");
  app.server.on("clientError", (error: SocketError, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) {
      socket.destroy();
      return;
    }
    const requestId = requestIdFor(undefined);
    const body = JSON.stringify(envelope(new ServiceError(400, complaint(error.code)), requestId));
    const address = "remoteAddress" in socket ? `${socket.remoteAddress}` : "";
    const headers = {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": `${Buffer.byteLength(body)}`,
      Connection: "close",
      "X-Request-ID": requestId,
      ...rateHeaders(tenancy.peekAnonymous(address)),
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join("")}\r\n${body}`);
  });
}

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
