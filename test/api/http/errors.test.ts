import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { after, before, test } from "node:test";
import { Worker } from "node:worker_threads";
import { TrackedRequest } from "../../../src/api/http/connection-tracker.ts";
import { answerAndDiscardBody, type DrainLimits } from "../../../src/api/http/errors.ts";
import type { Ending } from "../../../src/requests/metrics.ts";
import { ScriptedRecogniser } from "../../recognition/scripted-recogniser.ts";
import { until, within } from "../../waiting.ts";
import { openRaw, rawRequest } from "./raw-socket.ts";
import { startTestServer, type TestServer } from "./start.ts";
import type { Upload } from "./upload-thread.ts";

const PATH = "/v1/audio/transcriptions";
const BODY_BYTES = 8 * 2 ** 20;
const CAP_BYTES = 6 * 2 ** 20;
const BOUNDARY = "xyz";
const FORM = `multipart/form-data; boundary=${BOUNDARY}`;

let server: TestServer;
let spent: string;
before(async () => {
  server = await startTestServer({
    recogniser: new ScriptedRecogniser(),
    flags: { bodyLimitBytes: `${CAP_BYTES}`, shutdownGraceMs: "600000" },
  });
  spent = (await server.tenancy.createKey({ label: "spent", rpm: 1, burst: 1 })).key;
  await (await server.post("/v1/tts", { text: "Hi." }, { Authorization: `Bearer ${spent}` })).arrayBuffer();
});
after(() => server.stop());

interface Refusal {
  readonly what: string;
  readonly path: string;
  readonly status: number;
  readonly key?: () => string;
  readonly isJson?: boolean;
}

const file = (name: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="a.wav"\r\n\r\n`;
const REFUSALS: readonly Refusal[] = [
  { what: "a form to an unknown path", path: "/v1/files", status: 404 },
  { what: "JSON to an unknown path", path: "/no", status: 404, isJson: true },
  { what: "a form to a GET endpoint", path: "/v1/models", status: 405 },
  { what: "a form with a wrong key", path: PATH, status: 401, key: () => "x" },
  { what: "a form over the rate limit", path: PATH, status: 429, key: () => spent },
  { what: "a form over the cap", path: PATH, status: 400 },
  { what: "JSON over the cap", path: "/v1/tts", status: 400, isJson: true },
  { what: "a form to an invalid path", path: "/%", status: 404 },
];

function bodyOf(opening: string, length = BODY_BYTES): Buffer<ArrayBuffer> {
  const body = Buffer.alloc(length, " ");
  body.write(opening);
  return body;
}

function assertRefused(answer: string, status: number): void {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `));
  assert.match(head, /\r\nConnection: close(?:\r\n|$)/i);
  assert.match(head, /\r\nX-RateLimit-Limit: \d+/i);
  assert.match(head, new RegExp(`\\r\\nContent-Length: ${Buffer.byteLength(body)}(?:\\r\\n|$)`, "i"));
  const { error } = JSON.parse(body);
  assert.ok(head.toLowerCase().includes(`x-request-id: ${error.request_id}`));
}

/** Sends a whole request before it reads anything, as Python's clients do. */
async function sendThenRead(head: string, body: Uint8Array): Promise<string> {
  const { socket } = await openRaw(server, { isIdle: true });
  await written(socket, Buffer.concat([Buffer.from(head), body]));
  let answer = "";
  for await (const chunk of socket) answer += chunk;
  socket.destroy();
  return answer;
}

function written(socket: Socket, bytes: Uint8Array): Promise<void> {
  const taken = new Promise<void>((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
  return within("the bytes to be written", taken);
}

for (const { what, path, status, key = () => server.key, isJson = false } of REFUSALS) {
  const type = isJson ? "application/json" : FORM;
  const body = bodyOf(isJson ? "{" : file("file"));
  test(`a client that sends ${what} before it reads gets its ${status}`, async () => {
    const head = rawRequest(path, key(), "", { "Content-Type": type, "Content-Length": `${body.length}` });
    assertRefused(await sendThenRead(head, body), status);
  });

  test(`a client that sends ${what} and reads at once gets its ${status}`, async () => {
    const headers = { "X-API-Key": key(), "Content-Type": type };
    const reply = await fetch(server.url + path, { method: "POST", headers, body });
    assert.equal(reply.status, status);
    assert.ok(((await reply.json()) as { error: { message: string } }).error.message.length > 10);
  });
}

test("a client that sends a form before it reads gets the error of the first field", async () => {
  const body = bodyOf(file("audio"), CAP_BYTES - 1);
  const head = rawRequest(PATH, server.key, "", { "Content-Type": FORM, "Content-Length": `${body.length}` });
  const answer = await sendThenRead(head, body);
  assertRefused(answer, 422);
  assert.match(answer, /audio is sent as a file/);
});

test("a client that sends a chunked body over the cap before it reads gets its 400", async () => {
  const chunked = { "Transfer-Encoding": "chunked" };
  const head = rawRequest("/v1/tts", server.key, "", chunked).replace("Content-Length: 0\r\n", "");
  const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(65_536, " "), Buffer.from("\r\n")]);
  const chunks = Array.from({ length: BODY_BYTES / 65_536 }, () => chunk);
  assertRefused(await sendThenRead(head, Buffer.concat([...chunks, Buffer.from("0\r\n\r\n")])), 400);
});

test("a small body after a refusal with Connection: close is read", async () => {
  const { socket, received, over } = await openRaw(server);
  socket.write(rawRequest("/no", server.key, "", { "Content-Length": "40000", Connection: "close" }));
  await within("the end of the answer", over);
  assertRefused(received(), 404);
  for (let half = 0; half < 2; half++) await written(socket, Buffer.alloc(20_000, " "));
  socket.destroy();
});

for (const [what, head] of [
  [
    "with headers that are too large",
    `POST /v1/tts HTTP/1.1\r\nHost: a\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`,
  ],
  ["that is malformed", "garbage\r\n\r\n"],
] as const) {
  test(`a client that sends a request ${what} before it reads gets its 400`, async () => {
    assertRefused(await sendThenRead(head, Buffer.alloc(BODY_BYTES, " ")), 400);
  });
}

for (const [what, at, status] of [
  ["an unknown path", "/nowhere/v1", 404],
  ["a wrong key", "/v1", 401],
] as const) {
  test(`OpenAI's package gets the status for ${what} while it uploads a large file`, async () => {
    const apiKey = status === 401 ? "x" : server.key;
    const workerData: Upload = { apiKey, baseURL: server.url + at, fileBytes: BODY_BYTES };
    const thread = new Worker(new URL("./upload-thread.js", import.meta.url), { workerData });
    assert.deepEqual(await within("the status", once(thread, "message")), [status]);
    await thread.terminate();
  });
}

test("a refusal is logged and counted, and delays no stop, while its client still sends", async () => {
  const own = await startTestServer({ flags: { shutdownGraceMs: "600000" } });
  const { socket, received, over } = await openRaw(own);
  socket.write(rawRequest("/v1/tts", "wrong", "", { "Content-Length": `${BODY_BYTES}` }));
  await over;
  assertRefused(received(), 401);
  const ended = 'requests_ended_total{route="/v1/tts",end="failed",type="authentication_error"}';
  const responses = 'http_requests_total{route="/v1/tts",method="POST",status="401"}';
  assert.deepEqual([await own.metric(ended), await own.metric(responses)], [1, 1]);
  socket.write(Buffer.alloc(1_000));
  await within("the server to stop", own.stop());
  socket.destroy();
});

test("a request after a refused body is not run", async () => {
  const length = { "Content-Length": "100000" };
  const next = rawRequest("/v1/tts", server.key, { text: "Hi." }, { "X-Request-ID": "behind" });
  const spoken = 'requests_ended_total{route="/v1/tts",end="finished",type="none"}';
  const before = await server.metric(spoken);
  const answer = await sendThenRead(
    rawRequest("/no", server.key, "", length),
    Buffer.from(" ".repeat(1e5) + next),
  );
  assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1);
  assert.equal(await server.metric(spoken), before);
});

test("a refusal that is pipelined after a stream follows it, and its body is read", async () => {
  const stream = rawRequest("/v1/converse/stream", server.key, {
    conversation: [{ text: "word ".repeat(50) }],
  });
  const refused = rawRequest("/no", server.key, "", { "Content-Length": `${BODY_BYTES}` });
  const { socket, received, over } = await openRaw(server);
  socket.write(stream + refused);
  socket.write(Buffer.alloc(BODY_BYTES, " "));
  await over;
  assert.match(received(), /event: end\ndata: .*\n\n\r\n0\r\n\r\nHTTP\/1\.1 404 [\s\S]*not_found/);
  socket.destroy();
});

/** A server that refuses every request unread. `closed` resolves when its first connection closes. */
async function refuser(limits: DrainLimits) {
  const endings: Ending[] = [];
  const refusing = createServer((request, response) => {
    const tracked = new TrackedRequest(request, response, (ending) => endings.push(ending));
    answerAndDiscardBody(tracked, { status: 404, headers: {}, body: "no" }, limits);
  });
  const closed = new Promise<void>((resolve) => {
    refusing.on("connection", (socket) => socket.on("error", () => {}).once("close", () => resolve()));
  });
  refusing.listen(0, "127.0.0.1");
  await once(refusing, "listening");
  const { port } = refusing.address() as AddressInfo;
  return {
    endings,
    closed,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      refusing.closeAllConnections();
      refusing.close();
    },
  };
}

const NEVER_MS = 600_000;
const ENDLESS = rawRequest("/", "", "", { "Content-Length": "1000000000000" });

test("a client that sends forever is disconnected after the byte limit", async () => {
  await using refusing = await refuser({ maxBytes: 2 ** 20, quietMs: NEVER_MS, totalMs: NEVER_MS });
  const { socket, received } = await openRaw(refusing);
  socket.write(ENDLESS);
  await until("the answer", () => received().endsWith("no"));
  const more = () => {
    while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
  };
  socket.on("drain", more);
  more();
  await within("the connection to close", refusing.closed);
  assert.match(received(), /^HTTP\/1\.1 404 [\s\S]*no$/);
  assert.deepEqual(refusing.endings, ["finished"]);
  socket.destroy();
});

test("a client that trickles bytes is disconnected after the time limit", async () => {
  await using refusing = await refuser({ maxBytes: 2 ** 30, quietMs: NEVER_MS, totalMs: 100 });
  const { socket } = await openRaw(refusing);
  socket.write(ENDLESS);
  const drip = setInterval(() => socket.write("."), 5);
  await within("the connection to close", refusing.closed);
  clearInterval(drip);
  socket.destroy();
});

test("a client that goes quiet is disconnected after the quiet limit", async () => {
  await using refusing = await refuser({ maxBytes: 2 ** 30, quietMs: 50, totalMs: NEVER_MS });
  const { socket, received } = await openRaw(refusing);
  socket.write(ENDLESS);
  await within("the connection to close", refusing.closed);
  assert.match(received(), /no$/);
  socket.destroy();
});
