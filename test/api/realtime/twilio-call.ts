import { once } from "node:events";
import { WebSocket } from "ws";
import { mulaw } from "../../../src/audio/pcm-format.ts";
import { resample } from "../../../src/audio/resample.ts";
import { line } from "../../recognition/turn-detection/line.ts";
import { until, within } from "../../waiting.ts";
import { refusalOf } from "./client.ts";

export interface StreamOptions {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Received {
  readonly event: string;
  readonly streamSid: string;
  readonly media?: { readonly payload: string };
  readonly mark?: { readonly name: string };
}

const STREAM = "MZ0123456789abcdef0123456789abcdef";
const PIECE = 160;
const SILENCE = 0xff;

/** A call as Twilio makes one, whose playback a test acknowledges mark by mark. */
export class TwilioCall {
  readonly socket: WebSocket;
  readonly received: Received[] = [];
  closed: { readonly code: number; readonly reason: string } | null = null;
  sentMs = 0;
  #returned = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => this.received.push(JSON.parse(`${data}`) as Received));
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: `${reason}` };
    });
  }

  static connect(url: string, { query = "", headers = {} }: StreamOptions = {}): WebSocket {
    return new WebSocket(`${url.replace("http", "ws")}/v1/telephony/twilio${query}`, { headers });
  }

  static refused(url: string, options: StreamOptions = {}) {
    return refusalOf(TwilioCall.connect(url, options));
  }

  static async open(url: string, options: StreamOptions = {}): Promise<TwilioCall> {
    const socket = TwilioCall.connect(url, options);
    const call = new TwilioCall(socket);
    await within("the socket", once(socket, "open"));
    call.send({ event: "connected", protocol: "Call", version: "1.0.0" });
    return call;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  start(customParameters: Record<string, string>, mediaFormat: object = {}): void {
    const start = {
      accountSid: "AC1",
      streamSid: STREAM,
      callSid: "CA1",
      tracks: ["inbound"],
      customParameters,
      mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1, ...mediaFormat },
    };
    this.send({ event: "start", sequenceNumber: "1", start, streamSid: STREAM });
  }

  speak(sound: Uint8Array): void {
    for (let at = 0; at < sound.length; at += PIECE) {
      const payload = Buffer.from(sound.subarray(at, at + PIECE)).toString("base64");
      this.send({
        event: "media",
        sequenceNumber: "2",
        media: { track: "inbound", chunk: "1", timestamp: `${this.sentMs}`, payload },
        streamSid: STREAM,
      });
      this.sentMs += 20;
    }
  }

  beSilent(seconds: number): void {
    this.speak(new Uint8Array(8_000 * seconds).fill(SILENCE));
  }

  marks(): readonly string[] {
    return this.received.flatMap(({ mark }) => mark?.name ?? []);
  }

  /** Returns the next marks: their audio was played, or dropped after a `clear`. */
  returnMarks(count: number): void {
    const marks = this.marks();
    for (const name of marks.slice(this.#returned, this.#returned + count)) {
      this.send({ event: "mark", sequenceNumber: "3", streamSid: STREAM, mark: { name } });
    }
    this.#returned = Math.min(marks.length, this.#returned + count);
  }

  async upTo(event: string, count = 1): Promise<void> {
    const found = () => this.received.filter((each) => each.event === event).length;
    await until(`${count} of ${event}`, () => found() >= count || this.closed !== null);
    if (found() < count) throw new Error(`the call was closed: ${JSON.stringify(this.closed)}`);
  }

  async upToClose(): Promise<{ readonly code: number; readonly reason: string }> {
    await until("the end of the call", () => this.closed !== null);
    return this.closed!;
  }

  close(): void {
    this.socket.terminate();
  }
}

/** A spoken sentence in µ-law at 8 kHz. */
export async function spokenSentence(): Promise<Uint8Array> {
  const samples = resample((await line()).subarray(0, 27_000), 16_000, 8_000);
  return Uint8Array.from(samples, (sample) => mulaw(Math.round(32_767 * sample)));
}
