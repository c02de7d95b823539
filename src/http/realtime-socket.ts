import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyRequest } from "fastify";
import type { RawData, WebSocket } from "ws";
import type { InboundEvent } from "../contract/realtime/parse.ts";
import { EventBudget, SESSION_BUDGET } from "../limits/event-budget.ts";
import type { Dialect, DialectOutput } from "../realtime/dialect.ts";
import { type RealtimeDeps, SessionRunner } from "../realtime/session-runner.ts";
import type { SessionSettings } from "../realtime/session-settings.ts";
import type { ServerEvent } from "../realtime/wire.ts";
import type { RequestContext } from "../requests/request-context.ts";
import { MessageRoom, type RoomForBytes } from "./message-room.ts";

export interface RealtimeSocketOptions {
  readonly deps: RealtimeDeps;
  readonly settings: SessionSettings;
  readonly model: string | null;
  readonly dialect: Dialect;
  /** How often the client is pinged, in milliseconds; one that sends nothing at all after two pings is cut. */
  readonly heartbeatMs: number;
  readonly idleTimeoutMs: number;
  readonly maxSessionS: number;
  /** What all sessions of the key may have done for them. */
  readonly keyBudget: EventBudget;
  /** Whether other keys have sessions open. */
  readonly isShared: () => boolean;
  /** Finds memory for a message. */
  readonly roomFor: RoomForBytes;
  readonly begin: (what: "response" | "transcription", signal: AbortSignal) => Promise<RequestContext>;
  readonly meter: (inputAudioS: number) => Promise<void>;
  /** Called once with a sentence when the client first has to wait for its budget. */
  readonly onSlowed: (why: string) => void;
}

/** A message, or a ping or pong, that waits to be taken in. */
interface Frame {
  readonly type: "message" | "ping" | "pong";
  readonly bytes: Buffer;
  readonly arrivedMs: number;
  /** Gives its memory back. */
  readonly release: () => void;
}

/** Bytes that may wait in a socket before no more of a reply is asked for. */
const MAX_BUFFERED_BYTES = 256 * 1024;
/** Frames, and bytes of them, that may wait to be taken in before the socket is read no further. */
const MAX_WAITING = 32;
const MAX_WAITING_BYTES = 1024 * 1024;

/** Points of any frame, in addition to its bytes; and of one that is not sound, in addition to each byte. */
const FRAME_POINTS = 256;
const BYTES_PER_POINT = 16;
const COMMAND_POINTS = 1_000;
/** Bytes of a message with 20 ms of a telephone's sound, or more of any other, and of less. */
const MIN_SOUND_BYTES = 128;
/** Bytes of an answer, which is written in one go, that cost a point. */
const ANSWER_BYTES_PER_POINT = 4;
/** Points of a request that is refused for want of a token: it has looked up a key and a bucket. */
const REFUSAL_POINTS = 8_000;
/** A client whose commands have been over its budget for so long is disconnected, in milliseconds. */
const MAX_OVERDRAWN_MS = 10_000;

const NORMAL = 1_000;
const GOING_AWAY = 1_001;
const INVALID = 1_007;
const POLICY = 1_008;
const TRY_LATER = 1_013;

/** The WebSocket of a session: takes its messages in order, no faster than it may, and ends it. */
export class RealtimeSocket {
  readonly keyId: string;
  readonly #socket: WebSocket;
  /** The connection below, which also shows what has come of a message that is still on its way. */
  readonly #connection: Socket;
  readonly #options: RealtimeSocketOptions;
  readonly #runner: SessionRunner;
  readonly #budgets: readonly EventBudget[];
  /** The part of it for what is not sound: a client may send a recording as fast as it is taken in, but not commands. */
  readonly #commands = new EventBudget(SESSION_BUDGET);
  readonly #room: MessageRoom;
  /** Frames, and events that a dialect made of the session's own, in order. */
  readonly #waiting: (Frame | InboundEvent)[] = [];
  readonly #gone = new AbortController();
  readonly #timers: NodeJS.Timeout[] = [];
  #waitingBytes = 0;
  #isTaking = false;
  #isFinishing = false;
  #isSlowed = false;
  /** Since when the client's commands have been over its budget; `null`: they are not. */
  #overdrawnSinceMs: number | null = null;
  #unanswered = 0;
  #readBytes = 0;
  /** Bytes that had come with the newest message or pong: what has come since is part of another message. */
  #readToMessage = 0;
  #heardAtMs = performance.now();
  /** Resolves when the last event has left for the operating system. */
  #sent: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, request: FastifyRequest, options: RealtimeSocketOptions) {
    const { tracked } = request;
    this.keyId = tracked.caller.keyId;
    this.#socket = socket;
    this.#connection = request.raw.socket;
    this.#options = options;
    this.#budgets = [new EventBudget(SESSION_BUDGET), options.keyBudget];
    this.#room = new MessageRoom(request, options.roomFor, {
      pause: () => this.#socket.pause(),
      resume: () => this.#resume(),
      onRefused: (why) => this.#end(TRY_LATER, why),
      signal: this.#gone.signal,
    });
    this.#runner = new SessionRunner(options.deps, {
      keyId: this.keyId,
      settings: options.settings,
      model: options.model,
      begin: (what, signal) => this.#begin(what, signal),
      meter: options.meter,
      send: (event) => this.#send(event),
      hasRoom: () => this.#hasRoom(),
      isShared: options.isShared,
      isBehind: () => this.#isBehind(),
      signal: this.#gone.signal,
    });
    tracked.rawStatus = 101;
    // Before the tracker learns of it: a session that is closed has not failed.
    this.#connection.prependOnceListener("close", () => tracked.answered());
    socket.on("message", (data, isBinary) => this.#message(data, isBinary));
    for (const type of ["ping", "pong"] as const)
      socket.on(type, (bytes: Buffer) => this.#queue({ type, bytes, arrivedMs: 0, release: () => {} }));
    socket.once("close", () => {
      for (const timer of this.#timers) clearInterval(timer);
      this.#gone.abort(new Error("the client closed its session"));
      for (const next of this.#waiting.splice(0)) if ("release" in next) next.release();
      this.#runner.end();
    });
    this.#timers.push(setInterval(() => this.#look(), options.heartbeatMs).unref());
    this.#timers.push(setInterval(() => this.#closeIdle(), Math.min(1_000, options.idleTimeoutMs)).unref());
    this.#timers.push(
      setTimeout(
        () => this.#close("session_expired", "the session has lasted as long as one may"),
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

  /** Ends the session because its key is not valid any more. */
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
    // What is not text is refused for what it is not.
    const bytes = isBinary ? Buffer.alloc(0) : (data as Buffer);
    this.#queue({ type: "message", bytes, arrivedMs: this.#heardAtMs, release });
  }

  #queue(frame: Frame): void {
    this.#readToMessage = this.#connection.bytesRead;
    this.#waiting.push(frame);
    this.#waitingBytes += frame.bytes.length;
    if (this.#waiting.length >= MAX_WAITING || this.#waitingBytes >= MAX_WAITING_BYTES) this.#socket.pause();
    void this.#take();
  }

  async #take(): Promise<void> {
    if (this.#isTaking) return;
    this.#isTaking = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        if ("release" in next) await this.#takeFrame(next).finally(next.release);
        else await this.#runner.receive(next);
        this.#resume();
      }
    } catch (error) {
      if (this.#gone.signal.aborted) return;
      this.#options.deps.onFailure(error);
      this.#end(1_011, "something went wrong in the server");
    } finally {
      this.#isTaking = false;
    }
  }

  async #takeFrame({ type, bytes, arrivedMs }: Frame): Promise<void> {
    this.#waitingBytes -= bytes.length;
    // A client that reads no answers is not asked for more.
    await this.#hasRoom();
    await this.#mayGoOn();
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#spend(FRAME_POINTS + bytes.length / BYTES_PER_POINT);
    if (type === "ping") this.#socket.pong(bytes);
    if (type !== "message") return this.#spendCommand(bytes.length);
    let output: DialectOutput | null;
    try {
      output = await this.#options.dialect.read(bytes, arrivedMs);
    } catch (error) {
      this.#end(INVALID, (error as Error).message);
      return;
    }
    if (output === null) return this.#end(NORMAL, "");
    const isSound = bytes.length >= MIN_SOUND_BYTES && output.events.some(isAppend);
    if (!isSound) this.#spendCommand(bytes.length);
    for (const text of output.messages) this.#sendText(text);
    for (const event of output.events) await this.#runner.receive(event);
  }

  #sendText(text: string): void {
    this.#sent = new Promise((resolve) => this.#socket.send(text, () => resolve()));
  }

  /** Resolves when it is this connection's turn, and what was done for it before is within its budget and its key's. */
  async #mayGoOn(): Promise<void> {
    const { signal } = this.#gone;
    for (let waitMs = this.#waitMs; waitMs > 0; waitMs = this.#waitMs) {
      if (!this.#isSlowed)
        this.#options.onSlowed("a realtime session sends more events than it may: it is slowed");
      this.#isSlowed = true;
      const nowMs = performance.now();
      if (!this.#commands.isCalm) this.#overdrawnSinceMs ??= nowMs;
      if (nowMs - (this.#overdrawnSinceMs ?? nowMs) > MAX_OVERDRAWN_MS) {
        this.#close("rate_limit_exceeded", "the client sends more events than a session may: send fewer");
        return;
      }
      await pause(waitMs, null, { signal });
    }
    if (this.#commands.isCalm) this.#overdrawnSinceMs = null;
    await this.#options.deps.eventLoopShare.next();
  }

  get #waitMs(): number {
    return Math.max(...this.#budgets.map(({ waitMs }) => waitMs));
  }

  #spend(points: number): void {
    for (const budget of this.#budgets) budget.spend(points);
  }

  #spendCommand(bytes: number): void {
    this.#spend(COMMAND_POINTS + bytes);
    this.#commands.spend(FRAME_POINTS + COMMAND_POINTS + bytes);
  }

  async #begin(what: "response" | "transcription", signal: AbortSignal): Promise<RequestContext> {
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
    // Deltas are part of a reply, which takes a token.
    if (!event.type.endsWith(".delta"))
      this.#spend(messages.reduce((sum, { length }) => sum + length, 0) / ANSWER_BYTES_PER_POINT);
    for (const text of messages) this.#sendText(text);
    this.#waiting.push(...events);
    if (events.length > 0) void this.#take();
  }

  /** Resolves when the client has taken enough. The connection tracker cuts one that reads nothing, as on other routes. */
  async #hasRoom(): Promise<void> {
    while (this.#socket.bufferedAmount > MAX_BUFFERED_BYTES && !this.#gone.signal.aborted) await this.#sent;
  }

  /** Whether messages wait, or part of one has come. */
  #isBehind(): boolean {
    return this.#isTaking || this.#socket.isPaused || this.#connection.bytesRead !== this.#readToMessage;
  }

  #resume(): void {
    if (this.#waiting.length === 0 && !this.#room.isAwaited && this.#socket.isPaused) this.#socket.resume();
  }

  #look(): void {
    const { bytesRead } = this.#connection;
    // A pong comes after all that its client has sent before, and nothing is read of a socket that is paused.
    if (this.#socket.isPaused) this.#heardAtMs = performance.now();
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
    if (this.#socket.isPaused) this.#heardAtMs = performance.now();
    if (performance.now() - this.#heardAtMs > this.#options.idleTimeoutMs)
      this.#close("session_idle", "the client has sent nothing for too long");
  }

  #close(code: string, message: string): void {
    this.#send({ type: "error", error: { type: "invalid_request_error", code, message } });
    this.#end(POLICY, message);
  }

  #end(status: number, reason: string): void {
    // What is not read any more is not answered either, and a close could not be seen.
    this.#socket.resume();
    this.#socket.close(status, reason.slice(0, 120));
  }
}

function isAppend({ type }: InboundEvent): boolean {
  return type === "input_audio_buffer.append";
}
