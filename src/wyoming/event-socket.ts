import type { Socket } from "node:net";
import { encodeEvent, type WyomingEvent } from "./event.ts";
import { EventParser } from "./event-parser.ts";

/** Why work for a client ends that is no longer there. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/** What is read ahead of whoever takes the events, in bytes; the client waits with the rest. */
const AHEAD_BYTES = 64 * 1024;
/** How long a client that was sent all may leave its side of the connection open, in milliseconds. */
const LINGER_MS = 1_000;

/**
 * A connection as events. What comes is read as it is taken, and what goes waits for the client to take it, so that
 * neither side piles up anything here.
 */
export class EventSocket {
  readonly #socket: Socket;
  readonly #parser = new EventParser();
  readonly #gone = new AbortController();
  readonly #closed: Promise<void>;
  #isReceiving = false;
  #isEnded = false;
  #isEnding = false;
  #onChange = (): void => {};
  /** Whether the client waits for something to be done, and cannot be expected to move a byte. */
  isWorking = false;

  /** @param stallTimeoutMs longest that a connection may move no byte, while nothing is being done for its client */
  constructor(socket: Socket, stallTimeoutMs: number) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setTimeout(stallTimeoutMs);
    socket.on("timeout", () => {
      if (this.isWorking && socket.writableLength === 0) socket.setTimeout(stallTimeoutMs);
      else this.cut("it moved nothing for too long");
    });
    socket.on("data", (piece: Buffer) => {
      if (this.#isEnding) return;
      this.#parser.push(piece);
      if (!this.#isReceiving && this.#parser.waitingBytes > AHEAD_BYTES) socket.pause();
      this.#onChange();
    });
    socket.on("end", () => this.#leave("it closed the connection"));
    // Its close follows.
    socket.on("error", () => {});
    this.#closed = new Promise((resolve) => {
      socket.once("close", () => {
        this.#leave("it closed the connection");
        resolve();
      });
    });
  }

  /** Aborts with a {@link ClientGoneError} when the client goes, or is let go. */
  get signal(): AbortSignal {
    return this.#gone.signal;
  }

  /** Resolves once the connection is closed. */
  get closed(): Promise<void> {
    return this.#closed;
  }

  /** Whether an event has begun to come and is not whole. */
  get isInside(): boolean {
    return this.#parser.isInside;
  }

  /** The next event; `null` when there will be none. Throws what `EventParser.next` throws. One call at a time. */
  async receive(): Promise<WyomingEvent | null> {
    this.#isReceiving = true;
    try {
      for (;;) {
        const event = this.#parser.next();
        if (event !== null) return event;
        if (this.#isEnded) return null;
        this.#socket.resume();
        await new Promise<void>((resolve) => {
          this.#onChange = resolve;
        });
      }
    } finally {
      this.#isReceiving = false;
    }
  }

  /** Whoever receives is told that no more will come. */
  stopReceiving(): void {
    this.#isEnded = true;
    this.#onChange();
  }

  /** Resolves when the client has taken so much that more may be sent. Throws the signal's reason when it has gone. */
  async send(event: WyomingEvent): Promise<void> {
    this.signal.throwIfAborted();
    if (this.#isEnding || this.#socket.write(encodeEvent(event))) return;
    await new Promise<void>((resolve, reject) => {
      const over = (): void => {
        this.#socket.off("drain", over);
        this.signal.removeEventListener("abort", over);
        if (this.signal.aborted) reject(this.signal.reason);
        else resolve();
      };
      this.#socket.on("drain", over);
      this.signal.addEventListener("abort", over, { once: true });
    });
  }

  /** Ends the connection once the client has taken what was sent. */
  close(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.stopReceiving();
    let timer: NodeJS.Timeout | undefined;
    this.#socket.end(() => {
      timer = setTimeout(() => this.#socket.destroy(), LINGER_MS);
    });
    void this.#closed.then(() => clearTimeout(timer));
    // What still comes is thrown away: left unread it would have what was sent last thrown away instead.
    this.#socket.resume();
  }

  /** Ends the connection now. */
  cut(why: string): void {
    this.#leave(why);
    this.#socket.destroy();
  }

  #leave(why: string): void {
    if (!this.#isEnding) this.#gone.abort(new ClientGoneError(why));
    this.stopReceiving();
  }
}
