import {
  Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
} from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";

export interface HttpCall {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
}

export interface ResponseHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

export interface Connections {
  readonly plain: Agent;
  readonly tls: TlsAgent;
}

/**
 * Bytes per read, and the level at which more is requested. The system delivers 64 KiB at a time, of which one lies
 * here and one in the socket: 2.7 s of unread speech at 24 kHz.
 */
const CHUNK_BYTES = 8_192;

export function createConnections(): Connections {
  return { plain: new Agent(KEPT), tls: new TlsAgent(KEPT) };
}

const KEPT = { keepAlive: true, highWaterMark: CHUNK_BYTES };

/**
 * One HTTP request and its response, read on demand: unread data stays with the sender. Follows no redirects, never
 * retries.
 */
export class HttpExchange {
  readonly #request: ClientRequest;
  #response: IncomingMessage | null = null;
  #isStale = false;
  #failure: { readonly error: unknown } | null = null;
  #wake = (): void => {};

  /** @param isFresh whether to open a new connection, which cannot be stale */
  constructor({ method, url, headers, body }: HttpCall, connections: Connections, isFresh = false) {
    const isTls = url.protocol === "https:";
    const length = body.reduce((sum, part) => sum + part.length, 0);
    this.#request = (isTls ? tlsRequest : request)(url, {
      method,
      headers: method === "GET" ? headers : { ...headers, "Content-Length": `${length}` },
      agent: isFresh ? false : isTls ? connections.tls : connections.plain,
    });
    this.#request.on("error", (error: NodeJS.ErrnoException) => {
      const isReset = error.code === "ECONNRESET" || error.code === "EPIPE";
      this.#isStale =
        isReset && this.#failure === null && this.#response === null && this.#request.reusedSocket;
      this.fail(error);
    });
    this.#request.on("response", (answer) => this.#onResponse(answer));
    // A response that switches protocols causes neither a response nor an error.
    this.#request.on("close", () => {
      if (this.#response === null) this.fail(new Error("there was no answer"));
    });
    for (const part of body) this.#request.write(part);
    this.#request.end();
  }

  /** Whether it failed because the server had closed a kept connection: a retry on a fresh one may succeed. */
  get isStale(): boolean {
    return this.#isStale;
  }

  /** Returns the status and headers. Throws errors of the connection, or of {@link HttpExchange.fail}. */
  async head(): Promise<ResponseHead> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure.error;
      if (this.#response !== null)
        return { status: this.#response.statusCode ?? 0, headers: this.#response.headers };
      await this.#change();
    }
  }

  /** Returns the next bytes, at least one; `null` at the end. Throws as `head` does. */
  async next(): Promise<Uint8Array | null> {
    for (;;) {
      if (this.#failure !== null) throw this.#failure.error;
      const bytes = this.#read();
      if (bytes !== null) return bytes;
      if (this.#response?.readableEnded === true) return null;
      await this.#change();
    }
  }

  /** Ends it: pending calls throw `error`, and an incomplete response closes the connection. Idempotent. */
  fail(error: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = { error };
    if (this.#response?.complete === true) this.#response.resume();
    else this.#request.destroy();
    this.#wake();
  }

  #read(): Uint8Array | null {
    const ready = this.#response?.readableLength ?? 0;
    // Reading also requests more data, and ends a complete response.
    return this.#response?.read(ready === 0 ? undefined : Math.min(ready, CHUNK_BYTES)) ?? null;
  }

  #onResponse(answer: IncomingMessage): void {
    this.#response = answer;
    const wake = () => this.#wake();
    answer.on("readable", wake);
    answer.on("end", wake);
    answer.on("error", (error) => this.fail(error));
    wake();
  }

  async #change(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }
}
