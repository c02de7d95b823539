import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
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
  readonly key: () => string;
  readonly type: string;
  /** What the body begins with. */
  readonly opening: string;
}

const file = (name: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="a.wav"\r\n\r\n`;
const valid = () => server.key;
const REFUSALS: readonly Refusal[] = [
  {
    what: "a form for no path",
    path: "/v1/files",
    status: 404,
    key: valid,
    type: FORM,
    opening: file("file"),
  },
  { what: "JSON for no path", path: "/no", status: 404, key: valid, type: "application/json", opening: "{" },
  { what: "a form for GET", path: "/v1/models", status: 405, key: valid, type: FORM, opening: file("file") },
  { what: "a form with no key", path: PATH, status: 401, key: () => "x", type: FORM, opening: file("file") },
  { what: "a form too many", path: PATH, status: 429, key: () => spent, type: FORM, opening: file("file") },
  { what: "a body over the cap", path: PATH, status: 400, key: valid, type: FORM, opening: file("file") },
  {
    what: "JSON over the cap",
    path: "/v1/tts",
    status: 400,
    key: valid,
    type: "application/json",
    opening: "{",
  },
  { what: "a path that is none", path: "/%", status: 404, key: valid, type: FORM, opening: file("file") },
];

function bodyOf({ opening }: Pick<Refusal, "opening">, length = BODY_BYTES): Buffer<ArrayBuffer> {
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

/** Sends all of a request before it reads anything, as Python's clients do. */
async function sayAll(head: string, body: Uint8Array): Promise<string> {
  const { socket } = await openRaw(server, { isIdle: true });
  const said = new Promise<void>((resolve, reject) => {
    socket.write(Buffer.concat([Buffer.from(head), body]), (error) => (error ? reject(error) : resolve()));
  });
  await within("the whole request to be taken", said);
  let answer = "";
  for await (const piece of socket) answer += piece;
  socket.destroy();
  return answer;
}

function headOf({ path, key, type }: Refusal, length: Record<string, string>): string {
  return rawRequest(path, key(), "", { "Content-Type": type, ...length });
}

for (const refusal of REFUSALS) {
  const { what, path, status } = refusal;
  test(`who sends ${what} whole before it reads has its ${status}`, async () => {
    const body = bodyOf(refusal);
    assertRefused(await sayAll(headOf(refusal, { "Content-Length": `${body.length}` }), body), status);
  });

  test(`who sends ${what} and reads at once has its ${status}`, async () => {
    const headers = { "X-API-Key": refusal.key(), "Content-Type": refusal.type };
    const reply = await fetch(server.url + path, { method: "POST", headers, body: bodyOf(refusal) });
    assert.equal(reply.status, status);
    assert.ok(((await reply.json()) as { error: { message: string } }).error.message.length > 10);
  });
}

test("a fault in a form's first field is told to who sends the rest before it reads", async () => {
  const body = bodyOf({ opening: file("audio") }, CAP_BYTES - 1);
  const head = rawRequest(PATH, server.key, "", { "Content-Type": FORM, "Content-Length": `${body.length}` });
  const answer = await sayAll(head, body);
  assertRefused(answer, 422);
  assert.match(answer, /audio is sent as a file/);
});

test("a body without a length that grows over the cap is told so to who sends all of it before it reads", async () => {
  const head = rawRequest("/v1/tts", server.key, "", { "Transfer-Encoding": "chunked" }).replace(
    /Content-Length: 0\r\n/,
    "",
  );
  const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(65_536, " "), Buffer.from("\r\n")]);
  const chunks = Array.from({ length: BODY_BYTES / 65_536 }, () => chunk);
  assertRefused(await sayAll(head, Buffer.concat([...chunks, Buffer.from("0\r\n\r\n")])), 400);
});

test("a small body that comes behind its refusal is taken too, where the connection ends with that", async () => {
  const { socket, received, over } = await openRaw(server);
  socket.write(rawRequest("/no", server.key, "", { "Content-Length": "40000", Connection: "close" }));
  await within("the end of the answer", over);
  assertRefused(received(), 404);
  for (const half of [1, 2]) {
    const said = new Promise<void>((resolve, reject) => {
      socket.write(Buffer.alloc(20_000, " "), (error) => (error ? reject(error) : resolve()));
    });
    await within(`half ${half} to be taken`, said);
  }
  socket.destroy();
});

for (const [what, head] of [
  [
    "whose headers are too large",
    `POST /v1/tts HTTP/1.1\r\nHost: a\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`,
  ],
  ["that is none", "garbage\r\n\r\n"],
] as const) {
  test(`who sends a request ${what} whole before it reads has its 400`, async () => {
    assertRefused(await sayAll(head, Buffer.alloc(BODY_BYTES, " ")), 400);
  });
}

for (const [what, at, status] of [
  ["no path", "/nowhere/v1", 404],
  ["a key that is none", "/v1", 401],
] as const) {
  test(`OpenAI's package is told of ${what}, however large its file`, async () => {
    const apiKey = status === 401 ? "x" : server.key;
    const workerData: Upload = { apiKey, baseURL: server.url + at, fileBytes: BODY_BYTES };
    const thread = new Worker(new URL("./upload-thread.js", import.meta.url), { workerData });
    const [told] = await within("what it is told", once(thread, "message"));
    assert.equal(told, status);
    await thread.terminate();
  });
}

test("a refusal is over, in the log and the metrics, while its client still sends, and holds no stop up", async () => {
  const own = await startTestServer({ flags: { shutdownGraceMs: "600000" } });
  const { socket, received, over } = await openRaw(own);
  socket.write(rawRequest("/v1/tts", "wrong", "", { "Content-Length": `${BODY_BYTES}` }));
  await over;
  assertRefused(received(), 401);
  const ended = 'requests_ended_total{route="/v1/tts",end="failed",type="authentication_error"}';
  const told = 'http_requests_total{route="/v1/tts",method="POST",status="401"}';
  assert.deepEqual([await own.metric(ended), await own.metric(told)], [1, 1]);
  socket.write(Buffer.alloc(1_000));
  await within("the server to stop", own.stop());
  socket.destroy();
});

test("what comes behind a refused body is not done", async () => {
  const length = { "Content-Length": "100000" };
  const next = rawRequest("/v1/tts", server.key, { text: "Hi." }, { "X-Request-ID": "behind" });
  const spoken = 'requests_ended_total{route="/v1/tts",end="finished",type="none"}';
  const before = await server.metric(spoken);
  const answer = await sayAll(rawRequest("/no", server.key, "", length), Buffer.from(" ".repeat(1e5) + next));
  assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1);
  assert.equal(await server.metric(spoken), before);
});

test("a refusal that waits behind a stream comes after it, and its body is taken", async () => {
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

/** A server that refuses everything unread, how its requests ended, and when it lets its first connection go. */
async function refuser(limits: DrainLimits) {
  const endings: Ending[] = [];
  const refusing = createServer((request, response) => {
    const tracked = new TrackedRequest(request, response, (ending) => endings.push(ending));
    answerAndDiscardBody(tracked, { status: 404, headers: {}, body: "no" }, limits);
  });
  const letGo = new Promise<void>((resolve) => {
    refusing.on("connection", (socket) => socket.on("error", () => {}).once("close", () => resolve()));
  });
  refusing.listen(0, "127.0.0.1");
  await once(refusing, "listening");
  const { port } = refusing.address() as AddressInfo;
  return {
    endings,
    letGo,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      refusing.closeAllConnections();
      refusing.close();
    },
  };
}

const NEVER_MS = 600_000;
const ENDLESS = rawRequest("/", "", "", { "Content-Length": "1000000000000" });

test("who sends for ever is cut off after so many bytes", async () => {
  await using refusing = await refuser({ maxBytes: 2 ** 20, quietMs: NEVER_MS, totalMs: NEVER_MS });
  const { socket, received } = await openRaw(refusing);
  socket.write(ENDLESS);
  await until("the answer", () => received().endsWith("no"));
  const more = () => {
    while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
  };
  socket.on("drain", more);
  more();
  await within("the connection to be cut", refusing.letGo);
  assert.match(received(), /^HTTP\/1\.1 404 [\s\S]*no$/);
  assert.deepEqual(refusing.endings, ["finished"]);
  socket.destroy();
});

test("who sends a little now and then is cut off after a time", async () => {
  await using refusing = await refuser({ maxBytes: 2 ** 30, quietMs: NEVER_MS, totalMs: 100 });
  const { socket } = await openRaw(refusing);
  socket.write(ENDLESS);
  const drip = setInterval(() => socket.write("."), 5);
  await within("the connection to be cut", refusing.letGo);
  clearInterval(drip);
  socket.destroy();
});

test("who sends nothing more, and stays, is let go after a while", async () => {
  await using refusing = await refuser({ maxBytes: 2 ** 30, quietMs: 50, totalMs: NEVER_MS });
  const { socket, received } = await openRaw(refusing);
  socket.write(ENDLESS);
  await within("the connection to be let go", refusing.letGo);
  assert.match(received(), /no$/);
  socket.destroy();
});
