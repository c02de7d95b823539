import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ServiceError } from "../../contract/errors.ts";
import { KeyCounter } from "../../limits/fair-queue.ts";
import type { Ending } from "../../requests/metrics.ts";
import { RequestContext } from "../../requests/request-context.ts";

export interface ConnectionTrackerOptions {
  /** Milliseconds after which a client is cut that neither reads output nor sends its announced body. */
  readonly stallTimeoutMs: number;
  /** Whether requests wait for memory; slow senders that hold some are then cut. */
  readonly isMemoryAwaited: () => boolean;
}

/** Minimum bytes per second of a body after `PACE_AFTER_MS`. Slower senders are cut if others need memory. */
const MIN_PACE_BYTES_PER_S = 32 * 1024;
const PACE_AFTER_MS = 5_000;

interface Connection {
  readonly requests: Set<TrackedRequest>;
  /** Bytes moved in either direction, and the time since which none moved although some should have. */
  movedBytes: number;
  stalledSinceMs: number | null;
  isLast: boolean;
}

/**
 * Tracks all open requests by connection. A request's client has gone when its connection closes: Node reports
 * nothing to a pipelined response that waits for an earlier one.
 */
export class ConnectionTracker {
  readonly #options: ConnectionTrackerOptions;
  readonly #connections = new Map<Socket, Connection>();
  readonly #timer: NodeJS.Timeout;
  #open = 0;
  #onIdle = (): void => {};

  constructor(options: ConnectionTrackerOptions) {
    this.#options = options;
    const lookMs = Math.min(1_000, Math.max(20, options.stallTimeoutMs / 4));
    this.#timer = setInterval(() => this.#look(), lookMs).unref();
  }

  begin(
    request: IncomingMessage,
    response: ServerResponse,
    onEnd: (tracked: TrackedRequest, ending: Ending) => void,
  ): TrackedRequest {
    const { socket } = request;
    const connection = this.#connections.get(socket) ?? this.#opened(socket);
    const tracked = new TrackedRequest(request, response, (ending) => {
      connection.requests.delete(tracked);
      this.#open -= 1;
      onEnd(tracked, ending);
      if (connection.isLast && connection.requests.size === 0) socket.destroySoon();
      if (this.#open === 0) this.#onIdle();
    });
    connection.requests.add(tracked);
    this.#open += 1;
    if (socket.destroyed) tracked.leave(CLOSED);
    return tracked;
  }

  /** Resolves when no request is open. */
  async idle(): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** Returns the request to be answered next on a connection. */
  nextOn(socket: Socket): TrackedRequest | null {
    const [next] = this.#connections.get(socket)?.requests ?? [];
    return next ?? null;
  }

  /** Ends the connection after its open requests. */
  endAfter(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.requests.size === 0) socket.destroySoon();
    else connection.isLast = true;
  }

  /** Destroys every connection, including WebSockets, which Node's server no longer tracks. */
  cut(): void {
    for (const socket of this.#connections.keys()) socket.destroy();
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #opened(socket: Socket): Connection {
    const connection: Connection = {
      requests: new Set(),
      movedBytes: 0,
      stalledSinceMs: null,
      isLast: false,
    };
    this.#connections.set(socket, connection);
    whenClosed(socket, () => {
      this.#connections.delete(socket);
      for (const tracked of [...connection.requests]) tracked.leave(CLOSED);
    });
    return connection;
  }

  #look(): void {
    const nowMs = performance.now();
    for (const [socket, connection] of this.#connections) {
      const why = this.#whyToLetGo(socket, connection, nowMs);
      if (why === null) continue;
      for (const tracked of [...connection.requests]) tracked.leave(why);
      socket.destroy();
    }
  }

  #whyToLetGo(socket: Socket, connection: Connection, nowMs: number): string | null {
    const requests = [...connection.requests];
    const isToSend = requests.some(({ receiving }) => receiving !== null);
    // The output of pipelined requests cannot be read yet.
    const isToRead =
      socket.writableLength > 0 ||
      requests.some(({ response }) => response.socket !== null && response.writableLength > 0);
    const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength;
    const hasMoved = moved !== connection.movedBytes;
    connection.movedBytes = moved;
    if (hasMoved || !(isToSend || isToRead)) connection.stalledSinceMs = null;
    else connection.stalledSinceMs ??= nowMs;
    const { stalledSinceMs } = connection;
    if (stalledSinceMs !== null && nowMs - stalledSinceMs >= this.#options.stallTimeoutMs) {
      return isToRead ? "it read nothing for too long" : "it sent nothing for too long";
    }
    if (!isToSend || !this.#options.isMemoryAwaited()) return null;
    return requests.some((tracked) => isSlow(tracked, nowMs))
      ? "it sent too slowly while others waited"
      : null;
  }
}

function isSlow({ receiving }: TrackedRequest, nowMs: number): boolean {
  if (receiving === null || !receiving.isCounted) return false;
  const passedMs = nowMs - receiving.sinceMs;
  return passedMs >= PACE_AFTER_MS && receiving.bytes < (passedMs / 1_000) * MIN_PACE_BYTES_PER_S;
}

const CLOSED = "it closed the connection";

/** A body that is being received. */
export interface Receiving {
  readonly sinceMs: number;
  /** Whether its memory is counted, so that others may wait for it. */
  readonly isCounted: boolean;
  bytes: number;
}

export class TrackedRequest extends RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The body, while the client still sends it. */
  receiving: Receiving | null = null;
  /** The status sent without Node's own response, as for an upgrade. */
  rawStatus: number | null = null;

  constructor(request: IncomingMessage, response: ServerResponse, onEnd: (ending: Ending) => void) {
    super((ending) => {
      this.receiving = null;
      onEnd(ending);
    });
    this.request = request;
    this.response = response;
    response.once("finish", () => this.answered());
  }

  /** Fails the request and cuts its connection. The client reads nothing, so it gets no error. */
  cut(error: ServiceError): void {
    this.fail(error);
    this.leave(error.message);
    this.request.socket.destroy();
  }
}

/**
 * Calls `end` once: when the connection closes, or when the returned function is called. Calls it immediately if the
 * connection has already closed, since Node emits `close` only once.
 */
export function whenClosed(socket: Socket, end: () => void): () => void {
  const over = (): void => {
    if (isOver) return;
    isOver = true;
    socket.off("close", over);
    end();
  };
  let isOver = false;
  if (socket.destroyed) over();
  else socket.once("close", over);
  return over;
}

export interface ConnectionSlotsOptions {
  /** Slots in total, and per holder, such as a key or an address. */
  readonly maxTotal: number;
  readonly maxPerHolder: number;
  /** Errors to throw if there is none left. */
  readonly full: () => ServiceError;
  readonly holderIsFull: () => ServiceError;
}

/** Limits concurrent connections. Each slot is bound to its connection, so that none outlives it. */
export class ConnectionSlots {
  readonly #options: ConnectionSlotsOptions;
  readonly #taken = new KeyCounter();
  /** Oldest first. */
  readonly #places = new Set<{ readonly holder: string; readonly evict: () => void }>();

  constructor(options: ConnectionSlotsOptions) {
    this.#options = options;
  }

  /**
   * Gives a connection a slot until it closes or the returned function is called. Throws if there is none.
   *
   * @param onTaken runs when the slot is taken; the function it returns runs once, when it is freed
   * @param evict frees the slot for a holder with fewer; by default, the slot cannot be taken away
   */
  take(socket: Socket, holder: string, onTaken: () => () => void, evict = () => {}): () => void {
    const { maxTotal: inAll, maxPerHolder: perHolder, full, holderIsFull } = this.#options;
    if (this.#taken.of(holder) >= perHolder) throw holderIsFull();
    if (this.#taken.total >= inAll) this.#makeRoomFor(holder);
    if (this.#taken.total >= inAll) throw full();
    this.#taken.add(holder, 1);
    const place = { holder, evict };
    this.#places.add(place);
    const onFreed = onTaken();
    return whenClosed(socket, () => {
      this.#taken.add(holder, -1);
      this.#places.delete(place);
      onFreed();
    });
  }

  /** Evicts the oldest slot of the holder with most, if it has more than the newcomer. */
  #makeRoomFor(newcomer: string): void {
    let most = { holder: newcomer, evict: () => {} };
    for (const place of this.#places)
      if (this.#taken.of(place.holder) > this.#taken.of(most.holder)) most = place;
    most.evict();
  }
}
