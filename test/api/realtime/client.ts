import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import type { ServerEvent } from "../../../src/api/realtime/realtime-dialect.ts";
import { until, type WaitOptions, within } from "../../waiting.ts";
import { wireFaults } from "./wire-faults.ts";

export interface ClientOptions {
  /** Query string after `/v1/realtime`. */
  readonly query?: string;
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: true. */
  readonly answersPings?: boolean;
}

/** A realtime client that checks every event against what strict clients take. */
export class RealtimeClient {
  readonly socket: WebSocket;
  readonly events: ServerEvent[] = [];
  readonly faults: string[] = [];
  closed: { readonly code: number; readonly reason: string } | null = null;
  #read = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    const ids = new Set<unknown>();
    socket.on("message", (data) => {
      const event = JSON.parse(`${data}`) as ServerEvent;
      this.events.push(event);
      this.faults.push(...wireFaults(event));
      if (ids.has(event.event_id)) this.faults.push(`${event.type}: its id is not unique`);
      ids.add(event.event_id);
    });
    socket.on("error", () => {});
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: `${reason}` };
    });
  }

  static connect(url: string, options: ClientOptions = {}): WebSocket {
    const { query = "", protocols = [], headers = {}, answersPings = true } = options;
    const address = `${url.replace(/^http/, "ws")}/v1/realtime${query}`;
    return new WebSocket(address, [...protocols], { headers, autoPong: answersPings });
  }

  static async open(server: { readonly url: string; readonly key: string }, options: ClientOptions = {}) {
    const headers = { Authorization: `Bearer ${server.key}` };
    const own = options.protocols === undefined && options.headers === undefined ? { headers } : {};
    const client = new RealtimeClient(RealtimeClient.connect(server.url, { ...own, ...options }));
    await within("the connection", once(client.socket, "open"));
    await client.upTo("session.created");
    return client;
  }

  static refused(url: string, options: ClientOptions = {}) {
    return refusalOf(RealtimeClient.connect(url, options));
  }

  get types(): readonly string[] {
    return this.events.map(({ type }) => type);
  }

  send(event: unknown): void {
    this.socket.send(typeof event === "string" ? event : JSON.stringify(event));
  }

  /** Sends a tone that stands for speech, or silence, in 20 ms chunks of PCM16 at 24 kHz. */
  speak(ms: number, { isSilent = false } = {}): void {
    for (let at = 0; at < ms; at += 20) {
      const samples = new Int16Array(480);
      if (!isSilent)
        for (let i = 0; i < samples.length; i += 1)
          samples[i] = Math.round(9_000 * Math.sin((2 * Math.PI * 400 * (at * 24 + i)) / 24_000));
      this.send({
        type: "input_audio_buffer.append",
        audio: Buffer.from(samples.buffer).toString("base64"),
      });
    }
  }

  /** Returns the next unread event of a type and skips those before it. */
  async upTo(type: string, options: WaitOptions = {}): Promise<ServerEvent> {
    let found = -1;
    const isThere = () => {
      found = this.events.findIndex((event, at) => at >= this.#read && event.type === type);
      return found >= 0 || this.closed !== null;
    };
    await until(`an event ${type}, after ${this.types.slice(-5).join(", ")}`, isThere, options);
    if (found < 0) throw new Error(`closed with ${this.closed?.code} before an event ${type}`);
    this.#read = found + 1;
    return this.events[found]!;
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closing();
  }

  async closing(): Promise<{ readonly code: number; readonly reason: string }> {
    await until("the end of the connection", () => this.closed !== null);
    return this.closed!;
  }
}

/** Returns the HTTP response to a refused WebSocket. */
export async function refusalOf(socket: WebSocket) {
  socket.on("error", () => {});
  const [, response] = (await within("a refusal", once(socket, "unexpected-response"))) as [
    unknown,
    IncomingMessage,
  ];
  let text = "";
  for await (const chunk of response) text += chunk;
  const { error } = JSON.parse(text) as { error: { type: string; message: string; param?: string } };
  return { status: response.statusCode, headers: response.headers, error };
}
