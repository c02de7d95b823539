import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, test } from "node:test";
import { within } from "../../waiting.ts";
import { startTestServer, type TestServer } from "./start.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer({ flags: { headersTimeoutMs: "200", uploadTimeoutMs: "400" } });
});
after(() => server.stop());

async function open(): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  await within("the connection", once(socket, "connect"));
  socket.setEncoding("latin1");
  return socket;
}

/** Everything that the server says until it closes. A reset counts as a close. */
async function answer(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk: string) => {
    text += chunk;
  });
  socket.on("error", () => {});
  const end = new Promise((resolve) => socket.once("end", resolve).once("close", resolve));
  await within("the server to close", end);
  socket.destroy();
  return text;
}

function assertEnvelope(text: string, status: number): void {
  assert.match(text, new RegExp(`^HTTP/1.1 ${status} `));
  assert.match(text, /\r\nX-Request-ID: req_/i);
  assert.match(text, /\r\nX-RateLimit-Limit: \d+/i);
  const { error } = JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4));
  assert.equal(error.type, "invalid_request");
  assert.ok(text.includes(`: ${error.request_id}\r\n`));
}

const isWell = async () => assert.equal((await server.get("/health", {})).status, 200);

test("garbage instead of a request is answered with an envelope and a close", async () => {
  for (const garbage of [
    "\u0000\u0001\u0002 garbage\r\n\r\n",
    "GET\r\n\r\n",
    "\u0016\u0003\u0001\u0002hello TLS",
    "GET / HTTP/9.9\r\n\r\n",
  ]) {
    const socket = await open();
    socket.write(garbage, "latin1");
    assertEnvelope(await answer(socket), 400);
  }
  await isWell();
});

test("64 kB of headers are refused with an envelope", async () => {
  const socket = await open();
  socket.write(`GET /health HTTP/1.1\r\nHost: a\r\nX-Padding: ${"x".repeat(65_536)}\r\n\r\n`);
  const text = await answer(socket);
  assertEnvelope(text, 400);
  assert.match(text, /headers are over/);
  await isWell();
});

test("a request that trickles in is cut off", async () => {
  const headers = await open();
  headers.write("POST /v1/tts HTTP/1.1\r\nHost: a\r\nX-Slow: ");
  assertEnvelope(await answer(headers), 400);
  const body = await open();
  body.write(
    `POST /v1/tts HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"text":',
  );
  await answer(body);
  await isWell();
});

test("a socket closed on one side, or in the middle of a request, leaves nothing behind", async () => {
  for (const text of ["", "POST /v1/tts HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{", "GET /hea"]) {
    const socket = await open();
    socket.end(text);
    await answer(socket);
  }
  const left = await open();
  left.write(
    `POST /v1/converse/stream HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{",
  );
  left.destroy();
  await isWell();
});

test("a length that lies, and two lengths at once, are refused", async () => {
  const two = await open();
  two.write(
    "POST /v1/tts HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  );
  assertEnvelope(await answer(two), 400);
  const negative = await open();
  negative.write("POST /v1/tts HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n");
  assertEnvelope(await answer(negative), 400);
  await isWell();
});

test("a body over the cap is refused before it is read, and the connection does not linger", async () => {
  const socket = await open();
  socket.write(
    `POST /v1/tts HTTP/1.1\r\nHost: a\r\nX-API-Key: ${server.key}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 999999999999\r\n\r\n{",
  );
  const text = await answer(socket);
  assertEnvelope(text, 400);
  assert.match(text, /over the cap/);
});
