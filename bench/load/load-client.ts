import { connect, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { BUFFER_MS, type LoadJob, type LoadResult, MAX_AHEAD_MS } from "./load-job.ts";
import { Playback } from "./playback.ts";
import { ReplyParser } from "./reply-parser.ts";

/** One client with one connection, which sends a request after the other and keeps the time. */
export class LoadClient {
  readonly #job: LoadJob;
  #socket: Socket | null = null;
  #exchange: Exchange | null = null;

  constructor(job: LoadJob) {
    this.#job = job;
  }

  /** Sends one request and resolves when its reply has been read, and played if the job says so. Never rejects. */
  async request(body: string, signal: AbortSignal): Promise<LoadResult> {
    const { url, key, path } = this.#job;
    const { host } = new URL(url);
    const bytes = Buffer.from(body);
    const head =
      `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    const request = Buffer.concat([Buffer.from(head), bytes]);
    const onAbort = () => this.#exchange?.cutOff();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const socket = await this.#connected();
      this.#exchange = new Exchange(socket, this.#job);
      socket.write(request);
      return await this.#exchange.finished;
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error));
    } finally {
      this.#exchange = null;
      signal.removeEventListener("abort", onAbort);
    }
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }

  #connected(): Promise<Socket> {
    if (this.#socket !== null && !this.#socket.destroyed) return Promise.resolve(this.#socket);
    const { hostname, port } = new URL(this.#job.url);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.#socket = socket;
    const parser = new ReplyParser({
      onStatus: (status) => this.#exchange?.onStatus(status),
      onBody: (bytes) => this.#exchange?.onBody(bytes),
      onEnd: () => this.#exchange?.onEnd(),
    });
    socket.on("data", (bytes) => parser.push(bytes));
    socket.on("close", () => this.#exchange?.onClose());
    return new Promise((resolve, reject) => {
      socket.once("connect", () => resolve(socket));
      socket.on("error", reject);
    });
  }
}

/** One request and its reply. */
class Exchange {
  readonly #socket: Socket;
  readonly #isStream: boolean;
  readonly #isBytes: boolean;
  readonly #isPlayed: boolean;
  readonly #sentMs = performance.now();
  readonly #playback = new Playback(BUFFER_MS);
  readonly #events = new EventSplitter((event) => this.#onEvent(event));
  readonly #openings: Buffer[] = [];
  #firstAudioMs: number | null = null;
  #underruns = 0;
  #worstLateMs = 0;
  #failure: string | null = null;
  #timer: NodeJS.Timeout | undefined;
  #finish = (_utterance: LoadResult): void => {};

  readonly finished = new Promise<LoadResult>((resolve) => {
    this.#finish = resolve;
  });

  constructor(socket: Socket, { path, pace }: LoadJob) {
    this.#socket = socket;
    this.#isStream = path === "/v1/converse/stream";
    this.#isBytes = path === "/v1/audio/speech";
    this.#isPlayed = pace === "real time";
  }

  onStatus(status: number): void {
    if (status !== 200) this.#failure = `status ${status}`;
  }

  onBody(bytes: Buffer): void {
    if (this.#isStream) this.#events.push(bytes);
    else if (this.#isBytes) this.#firstAudioMs ??= performance.now() - this.#sentMs;
  }

  onEnd(): void {
    const totalMs = performance.now() - this.#sentMs;
    clearTimeout(this.#timer);
    const leftMs = this.#isPlayed ? this.#playback.aheadMs(performance.now()) : 0;
    if (leftMs <= 0) this.#settle(totalMs);
    else this.#timer = setTimeout(() => this.#settle(totalMs), leftMs);
  }

  onClose(): void {
    this.#failure ??= "the server closed the connection";
    this.#settle(null);
  }

  /** The measurement is over: what was heard so far counts. */
  cutOff(): void {
    this.#settle(null);
    this.#socket.destroy();
  }

  #onEvent(event: Buffer): void {
    const nowMs = performance.now();
    if (isError(event)) this.#failure = "an error event";
    if (!isAudio(event)) return;
    this.#firstAudioMs ??= nowMs - this.#sentMs;
    if (this.#openings.length < 2) this.#openings.push(Buffer.from(event));
    const lateMs = this.#playback.take(nowMs);
    if (!this.#isPlayed) return;
    if (lateMs > 0) this.#underruns += 1;
    this.#worstLateMs = Math.max(this.#worstLateMs, lateMs);
    const aheadMs = this.#playback.aheadMs(nowMs);
    if (aheadMs > MAX_AHEAD_MS) this.#readOnIn(aheadMs - MAX_AHEAD_MS / 2);
  }

  #readOnIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#socket.pause();
    this.#timer = setTimeout(() => this.#socket.resume(), ms);
  }

  #settle(totalMs: number | null): void {
    clearTimeout(this.#timer);
    this.#socket.resume();
    this.#finish({
      firstAudioMs: this.#firstAudioMs,
      totalMs,
      openingRms: Math.max(0, ...this.#openings.map(audioRms)),
      frames: this.#playback.frames,
      underruns: this.#underruns,
      worstLateMs: this.#worstLateMs,
      failure: this.#failure,
    });
  }
}

function failed(failure: string): LoadResult {
  const nothing = { firstAudioMs: null, totalMs: null, openingRms: 0, frames: 0 };
  return { ...nothing, underruns: 0, worstLateMs: 0, failure };
}

/** Cuts a stream of server-sent events where they end, however the bytes come. */
export class EventSplitter {
  readonly #onEvent: (event: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);

  /** @param onEvent gets each event's lines, without the empty one that ends it. */
  constructor(onEvent: (event: Buffer) => void) {
    this.#onEvent = onEvent;
  }

  push(bytes: Buffer): void {
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const event = rest.subarray(0, end);
      rest = rest.subarray(end + 2);
      this.#onEvent(event);
    }
    this.#rest = rest;
  }
}

const AUDIO = Buffer.from("event: audio\n");
const ERROR = Buffer.from("event: error\n");

export function isAudio(event: Buffer): boolean {
  return startsWith(event, AUDIO);
}

export function isError(event: Buffer): boolean {
  return startsWith(event, ERROR);
}

/** The level of an `audio` event's samples: their root mean square, 1 being full scale. */
export function audioRms(event: Buffer): number {
  const data = event.toString("latin1", event.indexOf("\ndata: ") + 7);
  const { pcm_b64 } = JSON.parse(data) as { pcm_b64: string };
  const pcm = Buffer.from(pcm_b64, "base64");
  let sum = 0;
  for (let at = 0; at + 1 < pcm.length; at += 2) sum += pcm.readInt16LE(at) ** 2;
  return Math.sqrt(sum / Math.max(1, pcm.length >> 1)) / 32_768;
}

function startsWith(event: Buffer, prefix: Buffer): boolean {
  return event.length >= prefix.length && prefix.compare(event, 0, prefix.length) === 0;
}
