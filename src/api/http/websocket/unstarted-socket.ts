import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { RawData, WebSocket } from "ws";
import { addressGroup } from "../../../accounts/address-group.ts";
import type { Key } from "../../../accounts/tenancy.ts";
import { ServiceError } from "../../../contract/errors.ts";
import { MAX_CALL_MESSAGE_BYTES } from "../../../contract/realtime/twilio-messages.ts";
import type { ResolvedCredential } from "../../realtime/client-secrets.ts";
import { ConnectionSlots } from "../connection-tracker.ts";
import type { HttpDeps, RealtimeOptions } from "../http-deps.ts";
import { CLOSE_CODES, closeReason, limitMessages } from "./websocket-server.ts";

/** The key or client secret that a connection showed. */
export type Payer = ResolvedCredential & { readonly key: Key };

/** Frames and bytes allowed before a stream starts: Twilio sends one message of 60 bytes. */
const MAX_EARLY_FRAMES = 64;
const MAX_EARLY_BYTES = 16 * 1024;

export interface WaitingSocket {
  /** The valid key of its URL; `null` without one. */
  readonly payer: Payer | null;
  readonly startMs: number;
  end(status: number, reason: string): void;
  /** Frees its slot. */
  leave(): void;
}

/** Slots of connections that have not started, or shown a key. */
export interface WaitingSlots {
  /** Those that wait, by the requests that they began with. */
  readonly sockets: Map<IncomingMessage, WaitingSocket>;
  /** Gives a connection a slot. Throws a {@link ServiceError} if there is none. */
  readonly admit: (request: FastifyRequest, payer: Payer | null, isSigned?: boolean) => WaitingSocket;
}

/** Milliseconds in which a stream must start; Twilio's do within some 0.1 s. */
const START_MS = 10_000;
const UNPROVEN_START_MS = 3_000;
/**
 * Unproven streams that may wait to start. A network that holds one slot loses it only if more networks than this
 * compete.
 */
const MAX_UNPROVEN = 64;
/** Streams of one key, or of one network, that may wait to start. */
const MAX_WAITING_EACH = 8;

export interface UnstartedSocketOptions<S> {
  /** Milliseconds in which the stream must start. */
  readonly startMs: number;
  /**
   * Reads a message until one starts the stream; `null`: it does not. @throws Error that says what is wrong with it
   */
  readonly read: (message: Buffer) => S | "stop" | null;
  /** Begins the session that the stream asks for. Rejects if it is refused; resolves with a function that opens it. */
  readonly begin: (start: S) => Promise<() => void>;
  readonly onFailure: (error: unknown) => [status: number, reason: string];
  /** Called when the socket no longer waits; more than once. */
  readonly onOver: () => void;
}

/** A WebSocket until its stream starts. Frames that come early are kept for the session, within bounds. */
export class UnstartedSocket<S> {
  readonly #socket: WebSocket;
  readonly #connection: Socket;
  readonly #options: UnstartedSocketOptions<S>;
  readonly #early: RawData[] = [];
  readonly #startBytes: number;
  readonly #timer: NodeJS.Timeout;
  #frames = 0;
  #hasStarted = false;

  constructor(socket: WebSocket, connection: Socket, options: UnstartedSocketOptions<S>) {
    this.#socket = socket;
    this.#connection = connection;
    this.#options = options;
    this.#startBytes = connection.bytesRead;
    this.#timer = setTimeout(
      () => this.end(CLOSE_CODES.policy, "the stream did not start"),
      options.startMs,
    ).unref();
    socket.on("message", this.#onMessage).on("ping", this.#onFrame).on("pong", this.#onFrame);
    connection.on("data", this.#onBytes);
    // On a protocol error `ws` closes the socket itself.
    socket.once("error", this.#stopWaiting).once("close", this.#stopWaiting);
  }

  end(status: number, reason: string): void {
    this.#stopWaiting();
    this.#early.length = 0;
    // A paused socket would never see the client's close frame.
    this.#socket.resume();
    this.#socket.close(status, closeReason(reason));
  }

  readonly #onMessage = (data: RawData): void => {
    this.#early.push(data);
    if (this.#early.length > 1) return;
    this.#onFrame();
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    let start: S | "stop" | null;
    try {
      start = this.#options.read(data as Buffer);
    } catch (error) {
      this.end(CLOSE_CODES.invalid, (error as Error).message);
      return;
    }
    if (start === "stop") this.end(CLOSE_CODES.normal, "");
    else if (start !== null) this.#start(start);
    else this.#early.length = 0;
  };

  readonly #onFrame = (): void => {
    this.#frames += 1;
    this.#endIf(this.#frames > MAX_EARLY_FRAMES);
  };

  /** Runs after `ws` has read the bytes, which may have contained the start. */
  readonly #onBytes = (): void =>
    this.#endIf(this.#connection.bytesRead - this.#startBytes > MAX_EARLY_BYTES);

  #endIf(isTooMuch: boolean): void {
    if (isTooMuch && !this.#hasStarted)
      this.end(CLOSE_CODES.policy, "the stream sent too much before its start");
  }

  #start(start: S): void {
    clearTimeout(this.#timer);
    this.#hasStarted = true;
    this.#socket.pause();
    this.#begin(start).catch((error) => this.end(...this.#options.onFailure(error)));
  }

  async #begin(start: S): Promise<void> {
    const open = await this.#options.begin(start);
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#stopWaiting();
    open();
    for (const each of this.#early.splice(0).slice(1)) this.#socket.emit("message", each, false);
    this.#socket.resume();
  }

  readonly #stopWaiting = (): void => {
    clearTimeout(this.#timer);
    this.#options.onOver();
    this.#socket.off("message", this.#onMessage).off("ping", this.#onFrame).off("pong", this.#onFrame);
    this.#connection.off("data", this.#onBytes);
  };
}

/** Creates the slots, and limits the messages of what waits in them. */
export function waitingSlots(
  scope: FastifyInstance,
  deps: HttpDeps,
  { maxSessions }: RealtimeOptions,
): WaitingSlots {
  const sockets: WaitingSlots["sockets"] = new Map();
  limitMessages(scope, MAX_CALL_MESSAGE_BYTES, (raw) => sockets.has(raw));
  const full = () =>
    new ServiceError(502, "the server takes no more calls just now: retry in a moment", {
      retryAfterMs: 5_000,
    });
  const holderIsFull = () => {
    const message = `${MAX_WAITING_EACH} streams of this key or network have not started, the maximum: start or close one`;
    return new ServiceError(429, message, { retryAfterMs: 5_000 });
  };
  const slotsFor = (maxTotal: number) =>
    new ConnectionSlots({ maxTotal, maxPerHolder: MAX_WAITING_EACH, full, holderIsFull });
  const [proven, unproven] = [slotsFor(maxSessions), slotsFor(MAX_UNPROVEN)];
  const admit: WaitingSlots["admit"] = ({ raw, ip }, payer, isSigned = false) => {
    if (deps.isStopping()) throw full();
    const isProven = payer !== null || isSigned;
    const waiting: WaitingSocket = {
      payer,
      startMs: isProven ? START_MS : UNPROVEN_START_MS,
      end: () => {
        waiting.leave();
        raw.socket.destroy();
      },
      leave: () => {},
    };
    const onTaken = () => {
      sockets.set(raw, waiting);
      return () => sockets.delete(raw);
    };
    const evict = () =>
      waiting.end(CLOSE_CODES.tryLater, "the stream had not started, and others needed its place");
    const holder = payer?.key.keyId ?? addressGroup(ip, 3);
    waiting.leave = (isProven ? proven : unproven).take(raw.socket, holder, onTaken, evict);
    return waiting;
  };
  scope.addHook("preClose", async () => {
    for (const { end } of sockets.values()) end(CLOSE_CODES.goingAway, "the server is shutting down");
  });
  return { sockets, admit };
}
