import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ServiceError } from "../../contract/errors.ts";
import { KeyCounter } from "../../limits/fair-queue.ts";
import type { Ending } from "../../requests/metrics.ts";
import { RequestContext } from "../../requests/request-context.ts";

export interface ConnectionTrackerOptions {
  /** Longest that a client may neither take what is there for it nor send what it has announced, in milliseconds. */
  readonly stallTimeoutMs: number;
  /** Whether others wait for room to send; then who sends slowly, and holds some, loses it. */
  readonly isMemoryAwaited: () => boolean;
}

/** Slower than this, over this time, makes room for others: bytes a second, milliseconds. */
const MIN_PACE_BYTES_PER_S = 32 * 1024;
const PACE_AFTER_MS = 5_000;

interface Connection {
  readonly requests: Set<TrackedRequest>;
  /** Bytes that have gone either way, and since when there were no more although there should have been. */
  movedBytes: number;
  stalledSinceMs: number | null;
  isLast: boolean;
}

/**
 * Every request that is under way, by its connection. A request's client has gone when the connection is closed: a
 * response that waits behind another's, as pipelined ones do, is told nothing by Node itself.
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

  /** @param onEnd called once, when the request is over */
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

  /** Resolves when no request is under way. */
  async idle(): Promise<void> {
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** The request that is to be answered next on a connection, if there is one. */
  nextOn(socket: Socket): TrackedRequest | null {
    const [next] = this.#connections.get(socket)?.requests ?? [];
    return next ?? null;
  }

  /** Ends the connection once the requests that are under way on it are over. */
  endAfter(socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined || connection.requests.size === 0) socket.destroySoon();
    else connection.isLast = true;
  }

  /** Ends every connection now, WebSockets among them, which Node's own server knows no more. */
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
    // What is queued behind another's answer cannot be read yet.
    const isToRead = socket.writableLength > 0 || requests.some(hasOutput);
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

function hasOutput({ response }: TrackedRequest): boolean {
  return response.socket !== null && response.writableLength > 0;
}

function isSlow({ receiving }: TrackedRequest, nowMs: number): boolean {
  if (receiving === null || !receiving.isCounted) return false;
  const passedMs = nowMs - receiving.sinceMs;
  return passedMs >= PACE_AFTER_MS && receiving.bytes < (passedMs / 1_000) * MIN_PACE_BYTES_PER_S;
}

const CLOSED = "it closed the connection";

/** A body on its way. */
export interface Receiving {
  readonly sinceMs: number;
  /** Whether its memory is counted, so that others may wait for it. */
  readonly isCounted: boolean;
  bytes: number;
}

/** A request that came by HTTP, from its headers to its one end. */
export class TrackedRequest extends RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Its body, while the client is to send more of it. */
  receiving: Receiving | null = null;
  /** The status that was sent where Node's own response was passed by. */
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

  /** Ends it with an error that its client cannot be told, because it takes nothing. */
  cut(error: ServiceError): void {
    this.fail(error);
    this.leave(error.message);
    this.request.socket.destroy();
  }
}

/**
 * Calls `end` once: when the connection closes, or when what is returned is called before. Of a connection that has gone
 * already, as it may while something else is waited for, it is called at once: Node tells of a close once, and never again.
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
  /** Places in all, and of one holder: a key, say, or an address. */
  readonly maxTotal: number;
  readonly maxPerHolder: number;
  /** What is thrown where there is none left. */
  readonly full: () => ServiceError;
  readonly holderIsFull: () => ServiceError;
}

/** Places that connections have. One is bound to its connection from the beginning, so that none outlives that. */
export class ConnectionSlots {
  readonly #options: ConnectionSlotsOptions;
  readonly #taken = new KeyCounter();
  /** Oldest first. */
  readonly #places = new Set<{ readonly holder: string; readonly evict: () => void }>();

  constructor(options: ConnectionSlotsOptions) {
    this.#options = options;
  }

  /**
   * Gives a connection a place until it closes, or gives it up by what is returned. Throws where there is none.
   *
   * @param onTaken runs when the place is taken; the function it returns runs once, when it is freed
   * @param evict frees the place for a holder with fewer; by default, the place cannot be taken away
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

  /** Evicts the oldest of the holder with most places, if it has more than the newcomer. */
  #makeRoomFor(newcomer: string): void {
    let most = { holder: newcomer, evict: () => {} };
    for (const place of this.#places)
      if (this.#taken.of(place.holder) > this.#taken.of(most.holder)) most = place;
    most.evict();
  }
}
