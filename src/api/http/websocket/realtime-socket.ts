import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import type { RawData, WebSocket } from "ws";
import { EventBudget, SESSION_BUDGET } from "../../../limits/event-loop-budget.ts";
import type { KeyedSemaphore } from "../../../limits/keyed-semaphore.ts";
import type { RequestContext } from "../../../requests/request-context.ts";
import type {
  DialectOutput,
  RealtimeDialect,
  ServerEvent,
  SessionConnection,
  SessionHandler,
  SessionRequest,
} from "../../realtime/realtime-dialect.ts";
import type { RealtimeDeps } from "../../realtime/session-runner.ts";
import { MessageMemory } from "./message-memory.ts";
import { CLOSE_CODES, closeReason, closingOf } from "./websocket-server.ts";

export type ChargedEvent = { readonly type: string; readonly audio?: string };

export interface RealtimeSocketOptions<E extends ChargedEvent> {
  readonly deps: Pick<RealtimeDeps, "eventLoopShare" | "onFailure">;
  readonly dialect: RealtimeDialect<E>;
  readonly open: (connection: SessionConnection) => SessionHandler<E>;
  /** Milliseconds between pings; a client that sends nothing after two is cut. */
  readonly heartbeatMs: number;
  readonly idleTimeoutMs: number;
  readonly maxSessionS: number;
  /** Budget shared by all sessions of the key. */
  readonly keyBudget: EventBudget;
  /** Memory of incoming messages. */
  readonly receiving: KeyedSemaphore;
  readonly begin: SessionConnection["begin"];
  /** Called once, when the session or its key first exceeds its budget. */
  readonly onSlowed: () => void;
}

/** A queued message, ping or pong. */
interface Frame {
  readonly type: "message" | "ping" | "pong";
  readonly bytes: Buffer;
  readonly arrivedMs: number;
  /** Releases its memory. */
  readonly release: () => void;
}

/** Bytes buffered in the socket above which no more of a reply is requested. */
const MAX_BUFFERED_BYTES = 256 * 1024;
/** Frames, and their bytes, that may be queued before reading pauses. */
const MAX_WAITING = 32;
const MAX_WAITING_BYTES = 1024 * 1024;

/** Points of any frame, of a continuation frame, and of a frame without audio. */
const FRAME_POINTS = 256;
const FRAGMENT_POINTS = 64;
const COMMAND_POINTS = 1_000;
/** Bytes of audio per point. Other bytes cost one each, since they have to be parsed. */
const AUDIO_BYTES_PER_POINT = 16;
/** Bytes in addition to audio, above which a message also counts as a command. */
const MAX_ENVELOPE_BYTES = 1_024;
const ANSWER_BYTES_PER_POINT = 4;
/** Points of a request that was refused after its key and bucket were looked up. */
const REFUSAL_POINTS = 8_000;
/**
 * Milliseconds that a session may be held back with over a quarter of its command budget spent, before it is closed.
 */
const MAX_OVERDRAWN_MS = 10_000;

/** The WebSocket of a session: handles its messages in order, within its budgets, and ends it. */
export class RealtimeSocket<E extends ChargedEvent> {
  readonly keyId: string;
  readonly #socket: WebSocket;
  /** The TCP connection, whose byte count shows incomplete messages. */
  readonly #connection: Socket;
  readonly #options: RealtimeSocketOptions<E>;
  readonly #session: SessionHandler<E>;
  readonly #budgets: readonly EventBudget[];
  /** Budget for everything but audio. */
  readonly #commands = new EventBudget(SESSION_BUDGET);
  readonly #room: MessageMemory;
  /** Frames and events from the dialect, in order. */
  readonly #waiting: (Frame | E)[] = [];
  readonly #gone = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #waitingBytes = 0;
  #isDraining = false;
  #isFinishing = false;
  #isSlowed = false;
  /** Time since which the session is held back below its reserve of the command budget; else `null`. */
  #overdrawnSinceMs: number | null = null;
  #unanswered = 0;
  #readBytes = 0;
  #heardAtMs = performance.now();
  /** Resolves when the last event has left for the operating system. */
  #sent: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, request: FastifyRequest, options: RealtimeSocketOptions<E>) {
    const { tracked } = request;
    this.keyId = tracked.caller.keyId;
    this.#socket = socket;
    this.#connection = request.raw.socket;
    this.#options = options;
    this.#budgets = [new EventBudget(SESSION_BUDGET), options.keyBudget];
    this.#room = new MessageMemory(request, options.receiving, {
      onFrames: (count) => this.#spend(count * FRAGMENT_POINTS),
      pause: () => this.#pause(),
      resume: () => this.#resume(),
      onRefused: (why) => this.#end(CLOSE_CODES.tryLater, why),
      signal: this.#gone.signal,
    });
    this.#session = options.open({
      keyId: this.keyId,
      begin: (what, signal) => this.#begin(what, signal),
      send: (event) => this.#send(event),
      hasRoom: () => this.#hasRoom(),
      isBehind: () => this.#isBehind(),
      close: (error) => this.#end(...closingOf(error, request)),
      signal: this.#gone.signal,
    });
    socket.on("message", (data, isBinary) => this.#message(data, isBinary));
    for (const type of ["ping", "pong"] as const)
      socket.on(type, (bytes: Buffer) => this.#queue({ type, bytes, arrivedMs: 0, release: () => {} }));
    socket.once("close", () => {
      for (const timer of this.#timers) clearInterval(timer);
      this.#gone.abort(new Error("the client closed its session"));
      for (const next of this.#waiting.splice(0)) if ("release" in next) next.release();
      this.#session.end();
    });
    this.#timers.push(setInterval(() => this.#heartbeat(), options.heartbeatMs).unref());
    this.#timers.push(setInterval(() => this.#closeIdle(), Math.min(1_000, options.idleTimeoutMs)).unref());
    this.#timers.push(
      setTimeout(
        () => this.#close("session_expired", "the session has lasted as long as one may"),
        1_000 * options.maxSessionS,
      ).unref(),
    );
    this.#session.begin();
  }

  /** Closes after the current reply. */
  async finish(): Promise<void> {
    if (this.#isFinishing) return;
    this.#isFinishing = true;
    await this.#session.whenIdle();
    this.#end(CLOSE_CODES.goingAway, "the server is shutting down");
  }

  /** Ends the session because its key was revoked. */
  revoke(): void {
    this.#close("invalid_api_key", "the API key of this session was revoked");
  }

  #message(data: RawData, isBinary: boolean): void {
    const release = this.#room.take((data as Buffer).length);
    if (this.#socket.readyState !== this.#socket.OPEN) {
      release();
      return;
    }
    this.#heardAtMs = performance.now();
    // Treats binary messages as empty, and so as invalid.
    const bytes = isBinary ? Buffer.alloc(0) : (data as Buffer);
    this.#queue({ type: "message", bytes, arrivedMs: this.#heardAtMs, release });
  }

  #queue(frame: Frame): void {
    this.#waiting.push(frame);
    this.#waitingBytes += frame.bytes.length;
    if (this.#waiting.length >= MAX_WAITING || this.#waitingBytes >= MAX_WAITING_BYTES) this.#pause();
    void this.#drain();
  }

  async #drain(): Promise<void> {
    if (this.#isDraining) return;
    this.#isDraining = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        if ("release" in next) await this.#handleFrame(next).finally(next.release);
        else await this.#session.receive(next);
        this.#resume();
      }
    } catch (error) {
      if (this.#gone.signal.aborted) return;
      this.#options.deps.onFailure(error);
      this.#end(CLOSE_CODES.failure, "something went wrong in the server");
    } finally {
      this.#isDraining = false;
    }
  }

  async #handleFrame({ type, bytes, arrivedMs }: Frame): Promise<void> {
    // The buffer of a large event is transferred to the thread that reads it.
    const size = bytes.length;
    this.#waitingBytes -= size;
    // Waits for clients that do not read.
    await this.#hasRoom();
    await this.#waitForTurn();
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (type === "ping") this.#socket.pong(bytes);
    if (type !== "message") return this.#charge(size, 0);
    let output: DialectOutput<E> | null;
    try {
      output = await this.#options.dialect.read(bytes, arrivedMs);
    } catch (error) {
      this.#end(CLOSE_CODES.invalid, (error as Error).message);
      return;
    }
    if (output === null) return this.#end(CLOSE_CODES.normal, "");
    this.#charge(
      size,
      output.events.reduce((sum, event) => sum + audioBytesOf(event), 0),
    );
    for (const text of output.messages) this.#sendText(text);
    for (const event of output.events) await this.#session.receive(event);
  }

  #sendText(text: string): void {
    this.#sent = new Promise((resolve) => this.#socket.send(text, () => resolve()));
  }

  /** Resolves when the session and its key are within budget, and the event loop gives it a turn. */
  async #waitForTurn(): Promise<void> {
    for (let waitMs = this.#waitMs; waitMs > 0; waitMs = this.#waitMs) {
      if (!this.#isSlowed) this.#options.onSlowed();
      this.#isSlowed = true;
      if (this.#isOverdrawnTooLong()) {
        this.#close("rate_limit_exceeded", "the client sends more events than a session may: send fewer");
        return;
      }
      await pause(waitMs, null, { signal: this.#gone.signal });
    }
    if (this.#commands.hasReserve) this.#overdrawnSinceMs = null;
    await this.#options.deps.eventLoopShare.next();
  }

  #isOverdrawnTooLong(): boolean {
    const nowMs = performance.now();
    this.#overdrawnSinceMs = this.#commands.hasReserve ? null : (this.#overdrawnSinceMs ?? nowMs);
    return this.#overdrawnSinceMs !== null && nowMs - this.#overdrawnSinceMs > MAX_OVERDRAWN_MS;
  }

  get #waitMs(): number {
    return Math.max(...this.#budgets.map(({ waitMs }) => waitMs));
  }

  #spend(points: number): void {
    for (const budget of this.#budgets) budget.spend(points);
  }

  /** Charges for a frame. Audio may arrive faster than real time, commands may not. */
  #charge(bytes: number, audioBytes: number): void {
    const rest = Math.max(0, bytes - audioBytes);
    this.#spend(FRAME_POINTS + audioBytes / AUDIO_BYTES_PER_POINT + rest);
    if (audioBytes > 0 && rest <= MAX_ENVELOPE_BYTES) return;
    this.#spend(COMMAND_POINTS);
    this.#commands.spend(FRAME_POINTS + COMMAND_POINTS + rest);
  }

  async #begin(what: SessionRequest, signal: AbortSignal): Promise<RequestContext> {
    try {
      return await this.#options.begin(what, signal);
    } catch (error) {
      this.#spend(REFUSAL_POINTS);
      throw error;
    }
  }

  #send(event: ServerEvent): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const { messages, events } = this.#options.dialect.write(event);
    // Deltas are paid for by the reply's token.
    if (!event.type.endsWith(".delta"))
      this.#spend(messages.reduce((sum, { length }) => sum + length, 0) / ANSWER_BYTES_PER_POINT);
    for (const text of messages) this.#sendText(text);
    // What the dialect reports of this event precedes what the client sent later.
    this.#waiting.unshift(...events);
    if (events.length > 0) void this.#drain();
  }

  /** The connection tracker cuts clients that read nothing. */
  async #hasRoom(): Promise<void> {
    const { signal } = this.#gone;
    while (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES && !signal.aborted) await this.#sent;
    // A connection that was cut buffers nothing, and reports its end later.
    if (this.#connection.destroyed && !signal.aborted) await once(signal, "abort");
  }

  /** Whether input waits or is still arriving. */
  #isBehind(): boolean {
    return this.#isDraining || this.#socket.isPaused || this.#room.isIncomplete;
  }

  #pause(): void {
    this.#socket.pause();
    this.#room.noteReading(false);
  }

  #resume(): void {
    if (this.#waiting.length > 0 || this.#room.isWaiting || !this.#socket.isPaused) return;
    this.#socket.resume();
    this.#room.noteReading(true);
  }

  #heartbeat(): void {
    const { bytesRead } = this.#connection;
    // A pong follows everything sent before it, and a paused socket is not read.
    if (this.#socket.isPaused || bytesRead !== this.#readBytes) this.#unanswered = 0;
    this.#readBytes = bytesRead;
    if (this.#unanswered >= 2) {
      this.#socket.terminate();
      return;
    }
    this.#unanswered += 1;
    this.#socket.ping();
  }

  #closeIdle(): void {
    if (this.#session.isBusy === true) this.#heardAtMs = performance.now();
    if (this.#socket.isPaused) {
      this.#heardAtMs = performance.now();
      // While a socket is not read, only writing reveals that its client has gone.
      this.#socket.ping();
    }
    if (performance.now() - this.#heardAtMs > this.#options.idleTimeoutMs)
      this.#close("session_idle", "the client has sent nothing for too long");
  }

  #close(code: string, message: string): void {
    this.#send({ type: "error", error: { type: "invalid_request_error", code, message } });
    this.#end(CLOSE_CODES.policy, message);
  }

  #end(status: number, reason: string): void {
    // A paused socket would never see the client's close frame.
    this.#socket.resume();
    this.#socket.close(status, closeReason(reason));
  }
}

function audioBytesOf({ type, audio = "" }: ChargedEvent): number {
  return type === "input_audio_buffer.append" ? audio.length : 0;
}
