import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestServer } from "./start.ts";

/** A connection of which a test sees every byte. */
export interface RawSocket {
  readonly socket: Socket;
  /** All that has been received, as Latin-1. */
  received(): string;
  /** Resolves when the connection is over, by an end, a close or a reset. */
  readonly over: Promise<void>;
}

/** Opens a connection to the server. It reads all that comes, unless it `isIdle`. */
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

/** A request with a JSON body, as it goes over the wire. */
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
