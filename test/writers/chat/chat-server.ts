import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { until, within } from "../../waiting.ts";

/** Fields of a request that tests read. */
export interface ChatBody {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly stream: boolean;
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly stream_options?: unknown;
}

export type Answer = (exchange: Exchange) => void | Promise<void>;

/** One request, and methods to answer it well, badly or not at all. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: ChatBody;
  /** Settles when the answer ends or the client disconnects. */
  readonly closed: Promise<unknown>;

  constructor(request: IncomingMessage, response: ServerResponse, body: ChatBody) {
    this.request = request;
    this.response = response;
    this.body = body;
    this.closed = once(response, "close");
  }

  /** Flushes the headers of a stream. */
  begin(contentType = "text/event-stream"): this {
    this.response.writeHead(200, { "content-type": contentType });
    this.response.flushHeaders();
    return this;
  }

  say(content: string): this {
    return this.send({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
  }

  send(event: unknown): this {
    return this.raw(`data: ${JSON.stringify(event)}\n\n`);
  }

  raw(text: string | Uint8Array): this {
    this.response.write(text);
    return this;
  }

  finish(
    reason = "stop",
    usage: unknown = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 },
  ): void {
    this.send({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
    if (this.body.stream_options !== undefined) this.send({ choices: [], usage });
    this.raw("data: [DONE]\n\n");
    this.response.end();
  }

  /** Sends an error body that must not reach the client. */
  refuse(status: number, body: unknown = { error: { message: UPSTREAM_SECRET } }, headers = {}): void {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    this.response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
  }

  cut(): void {
    this.response.socket?.resetAndDestroy();
  }
}

/** Text in error bodies that may appear in no error message. */
export const UPSTREAM_SECRET = "upstream-secret-text";

/** A chat endpoint with scripted answers, and a good one by default. */
export class ChatServer {
  readonly exchanges: Exchange[] = [];
  readonly baseUrl: string;
  readonly sockets = new Set<Socket>();
  readonly #server: Server;
  readonly #answers: Answer[] = [];
  readonly #usual: Answer;

  private constructor(server: Server, usual: Answer) {
    this.#server = server;
    this.#usual = usual;
    this.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    server.on("connection", (socket) => {
      this.sockets.add(socket);
      socket.once("close", () => this.sockets.delete(socket));
      socket.on("error", () => {});
    });
    server.on("request", (request, response) => this.#take(request, response));
  }

  /** Opens an endpoint that answers `usual` when no answer is queued. */
  static async open(usual: Answer = answerWell): Promise<ChatServer> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await within("a port", once(server, "listening"));
    return new ChatServer(server, usual);
  }

  /** Queues answers for the next requests. */
  next(...answers: readonly Answer[]): void {
    this.#answers.push(...answers);
  }

  /** Returns request number `index` once it has arrived. */
  async asked(index: number): Promise<Exchange> {
    await until(`request ${index}`, () => this.exchanges.length > index);
    return this.exchanges[index]!;
  }

  /** Waits until every answer has ended or its client left, and asserts that no answer is queued. */
  async idle(): Promise<void> {
    const all = Promise.all(this.exchanges.map(({ closed }) => closed));
    await within("every answer to be over or its client gone", all);
    assert.equal(this.#answers.length, 0, "queued answers without a request");
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
    await within("the endpoint to close", closed);
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    response.on("error", () => {});
    let text = "";
    request.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    request.on("end", () => {
      const exchange = new Exchange(request, response, JSON.parse(text));
      this.exchanges.push(exchange);
      void (this.#answers.shift() ?? this.#usual)(exchange);
    });
  }
}

/** Sends several sentences about the newest message, in small fragments. */
export function answerWell(exchange: Exchange): void {
  const heard = exchange.body.messages
    .at(-1)
    ?.content.split(" ")
    .slice(0, 2)
    .join(" ")
    .replaceAll(/[.!?]/g, "");
  const reply = `You said ${heard}. Dr. Lee would like that! Would you tell me more? I have all day.`;
  exchange.begin().send({ choices: [{ index: 0, delta: { role: "assistant", content: "" } }] });
  for (const piece of reply.match(/.{1,5}/gs) ?? []) exchange.say(piece);
  exchange.finish();
}
