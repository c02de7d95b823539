import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import type { WriterManifest } from "../../../src/models/checkpoint-manifest.ts";
import { temporaryFolder } from "../../e2e/folders.ts";
import { within } from "../../waiting.ts";
import { manifestOf, WEIGHTS } from "./fixture.ts";

/** Answers one request. `from` is the start of its range, or `null`. */
export type Answer = (response: ServerResponse, from: number | null, request: IncomingMessage) => void;

export interface FileServer {
  readonly url: string;
  /** A checkpoint of the file, and a new data folder. */
  readonly manifest: WriterManifest;
  readonly dataDir: string;
  /** The start of each request's range, or `null`. */
  readonly asked: (number | null)[];
}

/** Serves the answers in order and repeats the last. */
export async function fileServer(...script: Answer[]): Promise<FileServer> {
  const asked: (number | null)[] = [];
  const server = createServer((request, response) => {
    const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1];
    const from = range === undefined ? null : Number(range);
    const answer = script[Math.min(asked.push(from), script.length) - 1]!;
    answer(response, from, request);
  });
  server.listen(0, "127.0.0.1");
  await within("a port", once(server, "listening"));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/tiny.gguf`;
  return { url, asked, manifest: manifestOf(url), dataDir: temporaryFolder() };
}

export function file(bytes: Buffer = WEIGHTS): Answer {
  return cut(Number.POSITIVE_INFINITY, bytes);
}

/** Sends at most `count` bytes, then breaks off. */
export function cut(count: number, bytes: Buffer = WEIGHTS): Answer {
  return (response, from) => {
    const start = from ?? 0;
    const headers = { "content-length": bytes.length - start, ...rangeHeader(from, bytes.length) };
    response.writeHead(from === null ? 200 : 206, headers);
    send(response, bytes.subarray(start), count);
  };
}

/** Ignores ranges. */
export function cutRangeless(count: number, bytes: Buffer = WEIGHTS): Answer {
  return (response) => {
    response.writeHead(200, { "content-length": bytes.length });
    send(response, bytes, count);
  };
}

/** Sends chunks without a length. */
export function unmeasured(bytes: Buffer): Answer {
  return (response) => {
    response.writeHead(200, { "transfer-encoding": "chunked" });
    response.end(bytes);
  };
}

export function status(code: number, headers: Record<string, string> = {}, body = ""): Answer {
  return (response) => response.writeHead(code, headers).end(body);
}

function rangeHeader(from: number | null, total: number): Record<string, string> {
  return from === null ? {} : { "content-range": `bytes ${from}-${total - 1}/${total}` };
}

function send(response: ServerResponse, bytes: Buffer, count: number): void {
  if (count >= bytes.length) response.end(bytes);
  // Flush before the connection closes.
  else if (count > 0) response.write(bytes.subarray(0, count), () => response.socket?.end());
  else response.socket?.destroy();
}
