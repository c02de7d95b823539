import type { Socket } from "node:net";
import type { EventLoopShare } from "../../limits/event-loop-budget.ts";
import { ClientGoneError } from "../../requests/request-context.ts";
import { EventParser, encodeEvent, type ReceivedEvent, type WyomingEvent } from "./wyoming-event.ts";

const READ_AHEAD_BYTES = 64 * 1024;
/** Milliseconds that a client may keep its side open after the last byte was sent. */
const LINGER_MS = 1_000;

/**
 * A socket that sends and receives events. Both directions apply back-pressure, so nothing piles up. Connections take
 * turns to read, one event or chunk at a time.
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
  /** Whether the server is working for the client, which therefore need not send anything. */
  isWorking = false;

  /** @param stallTimeoutMs longest time without a byte, unless the server is working for the client */
  constructor(socket: Socket, eventLoopShare: EventLoopShare, stallTimeoutMs: number) {
    this.#socket = socket;
    this.#eventLoopShare = eventLoopShare;
    socket.setNoDelay(true);
    socket.setTimeout(stallTimeoutMs);
    socket.on("timeout", () => {
      const isExpected = this.#isPaused || (this.isWorking && socket.writableLength === 0);
      if (isExpected) socket.setTimeout(stallTimeoutMs);
      else this.cut("it transferred nothing for too long");
    });
    socket.on("data", (chunk: Buffer) => {
      if (this.#isEnding) {
        // Discarding data also costs time.
        socket.pause();
        void eventLoopShare.next().then(() => socket.resume());
        return;
      }
      this.#parser.push(chunk);
      if (this.#parser.waitingBytes > READ_AHEAD_BYTES) socket.pause();
      this.#onChange();
    });
    socket.on("end", () => this.#end("it closed the connection"));
    // The `close` event follows.
    socket.on("error", () => {});
    this.#closed = new Promise((resolve) => {
      socket.once("close", () => {
        this.#end("it closed the connection");
        resolve();
      });
    });
  }

  /** Aborts with a {@link ClientGoneError} when the connection ends. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get closed(): Promise<void> {
    return this.#closed;
  }

  get hasPartialEvent(): boolean {
    return this.#parser.hasPartialEvent;
  }

  get waitingBytes(): number {
    return this.#parser.waitingBytes;
  }

  /** Returns the next event; `null` at the end. Throws as `EventParser.next` does. Call it sequentially. */
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

  /** Stops reading for `ms` milliseconds or until the connection ends, so that the client waits too. */
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

  stopReceiving(): void {
    this.#isEnded = true;
    this.#onChange();
  }

  /** Resolves when the client has room for more. Throws the signal's reason once it has left. */
  async send(event: WyomingEvent): Promise<void> {
    await this.sendBytes(encodeEvent(event));
  }

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

  /** Closes the connection once the client has received everything. */
  close(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.stopReceiving();
    let timer: NodeJS.Timeout | undefined;
    this.#socket.end(() => {
      timer = setTimeout(() => this.#socket.destroy(), LINGER_MS);
    });
    void this.#closed.then(() => clearTimeout(timer));
    // Unread data would make the system discard what was sent last, so it is read and discarded.
    this.#socket.resume();
  }

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
