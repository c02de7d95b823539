import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request and its form as raw text. */
export interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Latin-1. */
  readonly form: string;
}

export type Answer = (asked: Asked) => void;

/** Text in refusals that may appear in no error message. */
export const UPSTREAM_SECRET = "upstream-secret-text";

/** A transcription endpoint with scripted answers, the last of them repeated. */
export class TranscriptionServer {
  readonly asked: Asked[] = [];
  readonly baseUrl: string;
  readonly #server: Server;
  #answers: Answer[] = [];

  private constructor(server: Server) {
    this.#server = server;
    this.baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    server.on("request", (request, response) => {
      let form = "";
      response.on("error", () => {});
      request.on("error", () => {});
      request.setEncoding("latin1").on("data", (piece: string) => {
        form += piece;
      });
      request.on("end", () => {
        const asked = { request, response, form };
        this.asked.push(asked);
        (this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0])?.(asked);
      });
    });
  }

  static async open(): Promise<TranscriptionServer> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new TranscriptionServer(server);
  }

  answers(...answers: Answer[]): void {
    this.#answers = answers;
    this.asked.length = 0;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

/** Answers with JSON, or with this text. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return ({ response }) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
}

/** Refuses with a text that must not reach the client. */
export function refusal(status: number, said = "", headers: Record<string, string> = {}): Answer {
  return json({ error: { message: `${UPSTREAM_SECRET} ${said}` } }, status, headers);
}
