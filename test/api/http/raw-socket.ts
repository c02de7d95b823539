import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { within } from "../../waiting.ts";
import type { TestServer } from "./start.ts";

/** A connection whose bytes a test reads and writes. */
export interface RawSocket {
  readonly socket: Socket;
  /** All bytes received, as Latin-1. */
  received(): string;
  /** Resolves at an end, a close or a reset. */
  readonly over: Promise<void>;
}

/** Opens a connection, which reads everything unless it `isIdle`. */
export async function openRaw(server: Pick<TestServer, "url">, { isIdle = false } = {}): Promise<RawSocket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  await once(socket, "connect");
  let text = "";
  socket.setEncoding("latin1");
  socket.on("error", () => {});
  if (isIdle) socket.pause();
  else {
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
  }
  const over = new Promise<void>((resolve) => {
    socket.once("end", resolve).once("close", () => resolve());
  });
  return { socket, received: () => text, over };
}

/** Sends a request and returns everything that comes back until the connection is over. */
export async function exchange(server: Pick<TestServer, "url">, request: string): Promise<string> {
  const { socket, received, over } = await openRaw(server);
  socket.write(request, "latin1");
  await within("the server to close", over);
  socket.destroy();
  return received();
}

/** The request that opens a WebSocket. */
export function upgradeRequest(path: string, headers: Readonly<Record<string, string>> = {}): string {
  const fixed = {
    Host: "a",
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  const lines = Object.entries({ ...fixed, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** A client's WebSocket frame with a mask of zeros. */
export function clientFrame(opcode: number, payload: string | Uint8Array, isFinal = true): Buffer {
  const bytes = Buffer.from(payload as string);
  const head = Buffer.alloc(bytes.length < 126 ? 2 : bytes.length < 65_536 ? 4 : 10);
  head[0] = (isFinal ? 0x80 : 0) | opcode;
  head[1] = 0x80 | (head.length === 2 ? bytes.length : head.length === 4 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(bytes.length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(bytes.length), 2);
  return Buffer.concat([head, Buffer.alloc(4), bytes]);
}

/** A POST with a JSON body as it goes over the wire. */
export function rawRequest(
  path: string,
  key: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): string {
  const json = typeof body === "string" ? body : JSON.stringify(body);
  const lines = Object.entries({
    Host: "a",
    "X-API-Key": key,
    "Content-Type": "application/json",
    "Content-Length": `${Buffer.byteLength(json)}`,
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n${json}`;
}
