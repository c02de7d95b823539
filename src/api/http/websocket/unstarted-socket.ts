import type { Socket } from "node:net";
import type { RawData, WebSocket } from "ws";
import { CLOSE_CODES, closeReason } from "./websocket-server.ts";

/** Frames and bytes allowed before a stream starts: Twilio sends one message of 60 bytes. */
const MAX_EARLY_FRAMES = 64;
const MAX_EARLY_BYTES = 16 * 1024;

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
