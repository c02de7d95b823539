import type { IncomingMessage, ServerResponse } from "node:http";
import { SMALL_BODY_BYTES } from "../../serving/prepare/preparer.ts";
import type { TrackedRequest } from "./connection-tracker.ts";
import { whenClosed } from "./when-closed.ts";

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
export function isMuchUnread(request: IncomingMessage): boolean {
  return unreadBytes(request) > SMALL_BODY_BYTES;
}

/** Whether an answer that is given now ends the connection while its client still sends. */
export function endsUnread(request: IncomingMessage, response: ServerResponse): boolean {
  const isLast = !response.shouldKeepAlive || response.getHeader("Connection") === "close";
  return isMuchUnread(request) || (isLast && unreadBytes(request) > 0);
}

/** A whole answer to a request whose body is not wanted. */
export interface UnreadAnswer {
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
export function answerUnread(
  tracked: TrackedRequest,
  { status, headers, body }: UnreadAnswer,
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
    throwAway(request, limits);
  });
  // An answer to HEAD has no body that would take its headers along.
  response.flushHeaders();
}

/** Reads the rest of a request, and destroys its connection. */
function throwAway(request: IncomingMessage, { maxBytes, quietMs, totalMs }: DrainLimits): void {
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
