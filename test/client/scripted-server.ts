import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

type Answering = (response: ServerResponse, request: IncomingMessage) => void;

/** A server that answers each request by the next entry of its script, and further ones by the last. */
export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  /** Paths requested so far. */
  readonly asked: readonly string[];
  /** Open connections that have carried a request; a client may open others in advance. */
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

export async function startScriptedServer(...script: readonly Answering[]): Promise<ScriptedServer> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const answer = script[Math.min(asked.length, script.length - 1)]!;
    asked.push(request.url ?? "");
    sockets.add(request.socket);
    request.resume().on("end", () => answer(response, request));
  });
  server.on("connection", (socket) => {
    socket.on("error", () => {}).once("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    if (!server.listening) return;
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    sockets,
    close,
    [Symbol.asyncDispose]: close,
  };
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answering =>
  (response) =>
    response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));

/** Answers with an error envelope. */
export const failing = (status: number, type: string, headers: Record<string, string> = {}): Answering =>
  json(
    status,
    { error: { type, message: "no: try again", request_id: "req_1" } },
    { "X-Request-ID": "req_1", ...headers },
  );

/** Starts an event stream with a text, and then calls `then`. */
export const streaming =
  (text: string, then: (response: ServerResponse) => void = (response) => response.end()): Answering =>
  (response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream; charset=utf-8", "X-Request-ID": "req_2" });
    response.write(text, () => then(response));
  };

export const silent: Answering = () => {};

export const META = 'event: meta\ndata: {"request_id":"req_2","model":"m","speaker":"0"}\n\n';
export const FRAME = 'event: audio\ndata: {"pcm_b64":"AQACAA==","sample_rate":24000,"index":0}\n\n';
export const END =
  'event: end\ndata: {"text":"Hi.","speaker":"0","audio_seconds":0,"usage":{},"meta":{}}\n\n';
