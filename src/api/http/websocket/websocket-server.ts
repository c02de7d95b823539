import type { IncomingMessage } from "node:http";
import websocket from "@fastify/websocket";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { WebSocket } from "ws";
import { MAX_MESSAGE_BYTES } from "../../../contract/realtime/client-events.ts";
import { toServiceError } from "../../../serving/service-errors.ts";
import { RealtimeError } from "../../realtime/realtime-error.ts";

const SOCKET_OPTIONS = {
  maxPayload: MAX_MESSAGE_BYTES,
  /** Buffered pieces of an incomplete message; each has an overhead. */
  maxBufferedChunks: 16 * 1024,
  maxFragments: 256,
  perMessageDeflate: false,
  // Sessions answer pings within their budget.
  autoPong: false,
  /** Milliseconds for the client to complete a close before it is cut. */
  closeTimeout: 1_000,
  // Other offered protocols may be the key.
  handleProtocols: (offered: ReadonlySet<string>) =>
    ["realtime", "audio.twilio.com"].find((each) => offered.has(each)) ?? (false as const),
};

/** Lets routes of `app` that are registered from now on take WebSockets. */
export function registerWebSockets(app: FastifyInstance): void {
  // The plugin's own `preClose` would close all sockets at once.
  app.register(websocket, {
    options: SOCKET_OPTIONS,
    preClose: (done) => done(),
    errorHandler: handleSocketError,
  });
}

/** Logs protocol errors of clients, for which `ws` has closed the socket; anything else is a bug in a route. */
function handleSocketError(
  this: FastifyInstance,
  error: Error,
  socket: WebSocket,
  { log }: FastifyRequest,
): void {
  if (socket.readyState !== socket.OPEN) {
    log.info({ cause: error.message }, "a WebSocket's client broke the protocol");
    return;
  }
  log.error(error);
  socket.terminate();
}

/**
 * Limits the messages of some sockets. The plugin has one server of `ws` for all routes, which reads its limit at each
 * upgrade, right after `headers`.
 */
export function limitMessages(
  { websocketServer: server }: FastifyInstance,
  maxBytes: number,
  isLimited: (request: IncomingMessage) => boolean,
): void {
  const others = server.options.maxPayload;
  server.on("headers", (_headers, request) => {
    server.options.maxPayload = isLimited(request) ? maxBytes : others;
  });
}

/** Returns the handler of requests for a WebSocket that do not ask for an upgrade. */
export function upgradeRequired(message: string) {
  return async ({ id }: FastifyRequest, reply: FastifyReply) => {
    reply.code(426).header("Upgrade", "websocket").header("Connection", "Upgrade");
    return { error: { type: "invalid_request", message, request_id: id } };
  };
}

/** Records that a request was upgraded; it ends, without failing, when its connection closes. */
export function trackUpgrade({ tracked, raw }: FastifyRequest): void {
  tracked.rawStatus = 101;
  // Before the tracker's own listener, for which a closed connection is a client that left.
  raw.socket.prependOnceListener("close", () => tracked.answered());
}

/** Close codes (RFC 6455, and 1013 of the IANA registry). */
export const CLOSE_CODES = {
  normal: 1_000,
  goingAway: 1_001,
  invalid: 1_007,
  policy: 1_008,
  failure: 1_011,
  tryLater: 1_013,
} as const;

/** Returns the close status and reason for an error; `undefined`: normal closure. */
export function closingOf(error: unknown, { log }: FastifyRequest): [status: number, reason: string] {
  if (error === undefined) return [CLOSE_CODES.normal, ""];
  if (error instanceof RealtimeError) return [CLOSE_CODES.policy, error.message];
  const { status, message } = toServiceError(error);
  if (status === 500) log.error(error);
  return [status === 429 || status >= 500 ? CLOSE_CODES.tryLater : CLOSE_CODES.policy, message];
}

/** Below the 123 bytes that a reason may have. */
const MAX_REASON_BYTES = 120;

/** Returns a close reason: printable ASCII, cut to what fits. */
export function closeReason(sentence: string): string {
  return sentence.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, MAX_REASON_BYTES);
}
