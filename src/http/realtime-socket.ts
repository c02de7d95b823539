import type { Socket } from "node:net";
import type { FastifyRequest } from "fastify";
import type { RawData, WebSocket } from "ws";
import type { Dialect, Told, Translated } from "../realtime/dialect.ts";
import { type RealtimeDeps, SessionRunner } from "../realtime/session-runner.ts";
import type { SessionSettings } from "../realtime/session-settings.ts";
import type { ServerEvent } from "../realtime/wire.ts";
import type { RequestContext } from "../requests/request-context.ts";

export interface RealtimeSocketOptions {
  readonly deps: RealtimeDeps;
  readonly settings: SessionSettings;
  readonly model: string | null;
  /** What its messages are. */
  readonly dialect: Dialect;
  /** How often it is pinged, in milliseconds; a client that sends nothing at all after two on end is cut. */
  readonly heartbeatMs: number;
  readonly idleTimeoutMs: number;
  readonly maxSessionS: number;
  readonly begin: (what: "response" | "transcription", signal: AbortSignal) => Promise<RequestContext>;
  readonly meter: (inputAudioS: number) => Promise<void>;
}

/** Bytes that may wait in a socket before no more of a reply is asked for. */
const MAX_BUFFERED_BYTES = 256 * 1024;
/** Messages, and characters of them, that may wait to be taken in before the socket is read no further. */
const MAX_WAITING = 32;
const MAX_WAITING_CHARS = 1024 * 1024;

const NORMAL = 1_000;
const GOING_AWAY = 1_001;
const INVALID = 1_007;
const POLICY = 1_008;

/** A session's WebSocket: its messages in order and no faster than they are taken in, its pace, its end. */
export class RealtimeSocket {
  readonly keyId: string;
  readonly #socket: WebSocket;
  /** Under it: what has come over it tells more than messages, the last of which may be under way for long. */
  readonly #connection: Socket;
  readonly #options: RealtimeSocketOptions;
  readonly #runner: SessionRunner;
  readonly #waiting: Told[] = [];
  readonly #gone = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #waitingChars = 0;
  #isTaking = false;
  #isFinishing = false;
  #unanswered = 0;
  #readBytes = 0;
  #heardAtMs = performance.now();
  /** Resolves when the last event has left for the operating system. */
  #sent: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, request: FastifyRequest, options: RealtimeSocketOptions) {
    const { tracked } = request;
    this.keyId = tracked.caller.keyId;
    this.#socket = socket;
    this.#connection = request.raw.socket;
    this.#options = options;
    this.#runner = new SessionRunner(options.deps, {
      keyId: this.keyId,
      settings: options.settings,
      model: options.model,
      begin: options.begin,
      meter: options.meter,
      send: (event) => this.#send(event),
      hasRoom: () => this.#hasRoom(),
      signal: this.#gone.signal,
    });
    tracked.rawStatus = 101;
    // Before the tracker hears of it: a session that is closed has not failed.
    request.raw.socket.prependOnceListener("close", () => tracked.answered());
    socket.on("message", (data, isBinary) => this.#message(data, isBinary));
    socket.once("close", () => {
      for (const timer of this.#timers) clearInterval(timer);
      this.#gone.abort(new Error("the client closed its session"));
      this.#runner.end();
    });
    this.#timers.push(setInterval(() => this.#look(), options.heartbeatMs).unref());
    this.#timers.push(
      setTimeout(
        () => this.#close(POLICY, "session_expired", "the session has lasted as long as one may"),
        1_000 * options.maxSessionS,
      ).unref(),
    );
    this.#runner.begin();
  }

  /** Lets the reply that is being made end, and closes then. */
  async finish(): Promise<void> {
    if (this.#isFinishing) return;
    this.#isFinishing = true;
    await this.#runner.quiet();
    this.#end(GOING_AWAY, "the server is shutting down");
  }

  #message(data: RawData, isBinary: boolean): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#heardAtMs = performance.now();
    // What is no text is refused as what it is not.
    const text = isBinary ? "" : `${data}`;
    let taken: Translated | null;
    try {
      taken = this.#options.dialect.read(text, this.#heardAtMs);
    } catch (error) {
      this.#end(INVALID, (error as Error).message.slice(0, 100));
      return;
    }
    if (taken === null) this.#end(NORMAL, "");
    else this.#pass(taken);
  }

  /** Hands on what a dialect made of a message, or of an event. */
  #pass({ messages, events }: Translated): void {
    for (const text of messages) {
      this.#sent = new Promise((resolve) => this.#socket.send(text, () => resolve()));
    }
    for (const event of events) this.#waitingChars += charsOf(event);
    this.#waiting.push(...events);
    if (this.#waiting.length >= MAX_WAITING || this.#waitingChars >= MAX_WAITING_CHARS) this.#socket.pause();
    if (!this.#isTaking && this.#waiting.length > 0) void this.#take();
  }

  async #take(): Promise<void> {
    this.#isTaking = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        this.#waitingChars -= charsOf(next);
        // Who reads no answers is asked nothing more.
        await this.#hasRoom();
        await this.#runner.receive(next);
        if (this.#waiting.length === 0 && this.#socket.isPaused) this.#socket.resume();
      }
    } catch (error) {
      this.#options.deps.onFailure(error);
      this.#end(1_011, "something went wrong in the server");
    } finally {
      this.#isTaking = false;
    }
  }

  #send(event: ServerEvent): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#pass(this.#options.dialect.write(event));
  }

  /** A client that reads nothing is cut by the connection tracker, as on any other route. */
  async #hasRoom(): Promise<void> {
    while (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES && !this.#gone.signal.aborted) await this.#sent;
  }

  #look(): void {
    const { bytesRead } = this.#connection;
    // A pong comes behind all that its client has sent before, and nothing is read of a socket that is paused.
    if (this.#socket.isPaused) this.#heardAtMs = performance.now();
    if (this.#socket.isPaused || bytesRead !== this.#readBytes) this.#unanswered = 0;
    this.#readBytes = bytesRead;
    if (this.#unanswered >= 2) {
      this.#socket.terminate();
      return;
    }
    this.#unanswered += 1;
    this.#socket.ping();
    if (performance.now() - this.#heardAtMs > this.#options.idleTimeoutMs)
      this.#close(POLICY, "session_idle", "the client has sent nothing for too long");
  }

  #close(status: number, code: string, message: string): void {
    this.#send({ type: "error", error: { type: "invalid_request_error", code, message } });
    this.#end(status, message);
  }

  #end(status: number, reason: string): void {
    // What is not read any more is not answered either, and a close could not be seen.
    this.#socket.resume();
    this.#socket.close(status, reason);
  }
}

/** Of what a dialect made only sound may be long. */
function charsOf(told: Told): number {
  if (typeof told === "string") return told.length;
  return told.type === "input_audio_buffer.append" ? told.audio.length : 0;
}
