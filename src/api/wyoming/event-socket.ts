import type { Socket } from "node:net";
import type { EventLoopShare } from "../../limits/event-loop-budget.ts";
import { ClientGoneError } from "../../requests/request-context.ts";
import { EventParser, encodeEvent, type ReceivedEvent, type WyomingEvent } from "./wyoming-event.ts";

/** What is read ahead of whoever takes the events, in bytes; the client waits with the rest. */
const READ_AHEAD_BYTES = 64 * 1024;
/** How long a client that was sent all may leave its side of the connection open, in milliseconds. */
const LINGER_MS = 1_000;

/**
 * A connection as events. What comes is read as it is taken, and what goes waits for the client to take it, so that
 * neither side piles up anything here. Reading takes turns with the other connections, an event or a piece at a time.
 */
export class EventSocket {
  readonly #socket: Socket;
  readonly #eventLoopShare: EventLoopShare;
  readonly #parser = new EventParser();
  readonly #abort = new AbortController();
  readonly #closed: Promise<void>;
  #isPaused = false;
  #isEnded = false;
  #isEnding = false;
  #onChange = (): void => {};
  /** Whether the client waits for something to be done, and cannot be expected to move a byte. */
  isWorking = false;

  /** @param stallTimeoutMs longest that a connection may move no byte, while nothing is being done for its client */
  constructor(socket: Socket, eventLoopShare: EventLoopShare, stallTimeoutMs: number) {
    this.#socket = socket;
    this.#eventLoopShare = eventLoopShare;
    socket.setNoDelay(true);
    socket.setTimeout(stallTimeoutMs);
    socket.on("timeout", () => {
      const isExpected = this.#isPaused || (this.isWorking && socket.writableLength === 0);
      if (isExpected) socket.setTimeout(stallTimeoutMs);
      else this.cut("it moved nothing for too long");
    });
    socket.on("data", (chunk: Buffer) => {
      if (this.#isEnding) {
        // It is thrown away, which costs something as well.
        socket.pause();
        void eventLoopShare.next().then(() => socket.resume());
        return;
      }
      this.#parser.push(chunk);
      if (this.#parser.waitingBytes > READ_AHEAD_BYTES) socket.pause();
      this.#onChange();
    });
    socket.on("end", () => this.#end("it closed the connection"));
    // Its close follows.
    socket.on("error", () => {});
    this.#closed = new Promise((resolve) => {
      socket.once("close", () => {
        this.#end("it closed the connection");
        resolve();
      });
    });
  }

  /** Aborts with a {@link ClientGoneError} when the client goes, or is let go. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Resolves once the connection is closed. */
  get closed(): Promise<void> {
    return this.#closed;
  }

  /** Whether an event has begun to come and is not whole. */
  get hasPartialEvent(): boolean {
    return this.#parser.hasPartialEvent;
  }

  /** Bytes that have come and were not taken, as of an event that is not whole yet. */
  get waitingBytes(): number {
    return this.#parser.waitingBytes;
  }

  /** The next event; `null` when there will be none. Throws what `EventParser.next` throws. One call at a time. */
  async receive(): Promise<ReceivedEvent | null> {
    for (;;) {
      await this.#eventLoopShare.next();
      if (this.signal.aborted) return null;
      const event = this.#parser.next();
      if (event !== null) return event;
      if (this.#isEnded) return null;
      this.#socket.resume();
      await this.#change();
    }
  }

  /** Reads nothing for so long, in milliseconds, so that the client waits too; or until no more will be received. */
  async pauseReading(ms: number): Promise<void> {
    this.#isPaused = true;
    this.#socket.pause();
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      this.#onChange();
    }, ms);
    while (!isOver && !this.#isEnded) await this.#change();
    clearTimeout(timer);
    this.#isPaused = false;
    if (!this.#isEnded && this.#parser.waitingBytes <= READ_AHEAD_BYTES) this.#socket.resume();
  }

  /** Whoever receives is told that no more will come. */
  stopReceiving(): void {
    this.#isEnded = true;
    this.#onChange();
  }

  /** Resolves when the client has taken so much that more may be sent. Throws the signal's reason when it has gone. */
  async send(event: WyomingEvent): Promise<void> {
    await this.sendBytes(encodeEvent(event));
  }

  /** The same, for an event as it goes over the wire. */
  async sendBytes(bytes: Uint8Array): Promise<void> {
    this.signal.throwIfAborted();
    if (this.#isEnding || this.#socket.write(bytes)) return;
    await new Promise<void>((resolve, reject) => {
      const settle = (): void => {
        this.#socket.off("drain", settle);
        this.signal.removeEventListener("abort", settle);
        if (this.signal.aborted) reject(this.signal.reason);
        else resolve();
      };
      this.#socket.on("drain", settle);
      this.signal.addEventListener("abort", settle, { once: true });
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
  cut(reason: string): void {
    this.#end(reason);
    this.#socket.destroy();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#onChange = resolve;
    });
  }

  #end(reason: string): void {
    if (!this.#isEnding) this.#abort.abort(new ClientGoneError(reason));
    this.stopReceiving();
  }
}
