import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { wavHeader } from "../../../src/audio/encode-wav.ts";
import { until } from "../../waiting.ts";

/** A received request. */
export interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  // biome-ignore lint/suspicious/noExplicitAny: whatever JSON was sent
  readonly body: any;
  /** Whether the client disconnected before the end of the answer. */
  readonly hasLeft: () => boolean;
}

export type Answer = (asked: Asked) => void | Promise<void>;

/** Text in refusals that may appear in no error message. */
export const UPSTREAM_SECRET = "upstream-secret-text";

/** A speech server with scripted answers, the last of them repeated. */
export class SpeechServer {
  readonly asked: Asked[] = [];
  readonly host: string;
  readonly url: string;
  readonly #server: Server;
  #answers: Answer[] = [];

  private constructor(server: Server) {
    this.#server = server;
    this.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.url = `http://${this.host}/v1`;
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      const pieces: Buffer[] = [];
      let hasLeft = false;
      response.on("error", () => {});
      response.on("close", () => {
        hasLeft = !response.writableFinished;
      });
      request.on("error", () => {});
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        const text = Buffer.concat(pieces).toString("utf8");
        const body = text === "" ? null : JSON.parse(text);
        const asked = { request, response, body, hasLeft: () => hasLeft };
        this.asked.push(asked);
        const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
        void answer?.(asked);
      });
    });
  }

  static async open(): Promise<SpeechServer> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new SpeechServer(server);
  }

  answers(...answers: Answer[]): this {
    this.#answers = answers;
    this.asked.length = 0;
    return this;
  }

  /** Waits for this number of requests. */
  async isAsked(times: number): Promise<void> {
    await until(`request ${times}`, () => this.asked.length >= times);
  }

  closeIdle(): void {
    this.#server.closeIdleConnections();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** A tone in 16 bits, its samples interleaved over the channels. */
export function tonePcm(seconds: number, rateHz = 24_000, channels = 1): Buffer {
  const bytes = Buffer.alloc(2 * channels * Math.round(seconds * rateHz));
  // 20 ms are a whole number of samples and cycles at all rates in use.
  const period = Math.min(bytes.length, (2 * channels * rateHz) / 50);
  for (let at = 0; at < period / 2; at += 1) {
    const frame = Math.floor(at / channels);
    bytes.writeInt16LE(Math.round(8_000 * Math.sin((2 * Math.PI * 300 * frame) / rateHz)), 2 * at);
  }
  return bytes.fill(bytes.subarray(0, period), period);
}

/** A WAV of unknown length. */
export function streamedWav(pcm: Buffer, rateHz = 24_000, channels = 1): Buffer {
  const head = wavHeader(0xffff_ffff, rateHz, { bytesPerSample: 2, channels });
  return Buffer.concat([head, pcm]);
}

export function bytes(body: Buffer, type = "audio/wav"): Answer {
  return ({ response }) => void response.writeHead(200, { "content-type": type }).end(body);
}

export function json(value: unknown): Answer {
  return bytes(Buffer.from(JSON.stringify(value)), "application/json");
}

/** Speech that is long enough for the tests' texts. */
export const speech: Answer = bytes(streamedWav(tonePcm(12)));

/** Answers in chunks. */
export function inPieces(body: Buffer, lengths: readonly number[], type = "audio/wav"): Answer {
  return async ({ response }) => {
    response.writeHead(200, { "content-type": type });
    response.socket?.setNoDelay(true);
    let at = 0;
    for (let index = 0; at < body.length; index += 1) {
      const until = at + Math.max(1, lengths[index % lengths.length]!);
      response.write(body.subarray(at, until));
      at = until;
      await turn();
    }
    response.end();
  };
}

/** Refuses with a text that must not reach the client. */
export function refusal(status: number, headers: Record<string, string> = {}): Answer {
  const body = JSON.stringify({ error: { message: UPSTREAM_SECRET } });
  return ({ response }) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
}
