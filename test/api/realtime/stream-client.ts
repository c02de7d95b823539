import { once } from "node:events";
import { WebSocket } from "ws";
import type { Alignment } from "../../../src/api/realtime/character-alignment.ts";
import { until, within } from "../../waiting.ts";
import { refusalOf } from "./client.ts";

export interface StreamAnswer {
  readonly audio?: string | null;
  readonly isFinal?: boolean | null;
  readonly alignment?: Alignment | null;
  readonly normalizedAlignment?: Alignment | null;
  readonly contextId?: string;
  readonly error?: string;
  readonly message?: string;
}

export interface StreamClientOptions {
  /** Path and query after `/v1/text-to-speech/`. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A client of ElevenLabs' `stream-input` or `multi-stream-input`. */
export class StreamClient {
  readonly socket: WebSocket;
  readonly answers: StreamAnswer[] = [];
  closed: { readonly code: number; readonly reason: string } | null = null;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => this.answers.push(JSON.parse(`${data}`)));
    socket.on("error", () => {});
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: `${reason}` };
    });
  }

  static connect(url: string, { path = `0/${SINGLE}`, headers = {} }: StreamClientOptions = {}): WebSocket {
    return new WebSocket(`${url.replace(/^http/, "ws")}/v1/text-to-speech/${path}`, { headers });
  }

  static async open(
    { url, key }: { readonly url: string; readonly key: string },
    options: StreamClientOptions = {},
  ): Promise<StreamClient> {
    const client = new StreamClient(
      StreamClient.connect(url, { headers: { "xi-api-key": key }, ...options }),
    );
    await within("the connection", once(client.socket, "open"));
    return client;
  }

  static refused(url: string, options: StreamClientOptions) {
    return refusalOf(StreamClient.connect(url, options));
  }

  send(...messages: unknown[]): void {
    for (const each of messages) this.socket.send(typeof each === "string" ? each : JSON.stringify(each));
  }

  /** Waits for the first answer that fits. */
  async first(what: string, fits: (answer: StreamAnswer) => boolean): Promise<StreamAnswer> {
    await until(what, () => this.closed !== null || this.answers.some(fits));
    const found = this.answers.find(fits);
    if (found === undefined) throw new Error(`closed with ${this.closed?.code} before ${what}`);
    return found;
  }

  async closing(): Promise<{ readonly code: number; readonly reason: string }> {
    await until("the end of the connection", () => this.closed !== null);
    return this.closed!;
  }

  /** The audio of a context, or of the only text. */
  audio(contextId?: string): Buffer {
    const own = this.answers.filter((answer) => answer.contextId === contextId);
    return Buffer.concat(own.map(({ audio }) => Buffer.from(audio ?? "", "base64")));
  }
}

export const SINGLE = "stream-input?output_format=pcm_24000";
export const MULTI = "multi-stream-input?output_format=pcm_24000";

/** Joins alignments whose times restart in each: the characters, and when each begins, in milliseconds. */
export function joined(alignments: readonly (Alignment | null | undefined)[]) {
  const chars: string[] = [];
  const startsMs: number[] = [];
  let endMs = 0;
  for (const each of alignments) {
    if (!each) continue;
    chars.push(...each.chars);
    startsMs.push(...each.charStartTimesMs.map((ms) => endMs + ms));
    endMs += each.charStartTimesMs.at(-1)! + each.charDurationsMs.at(-1)!;
  }
  return { text: chars.join(""), chars, startsMs, endMs };
}
