import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { until } from "../../waiting.ts";
import { openRaw, type RawSocket, rawRequest } from "./raw-socket.ts";
import { startTestServer, type TestServer } from "./start.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

/** One request as it is, and everything that is said to it until the server closes. */
async function say(text: string): Promise<string> {
  const raw = await openRaw(server);
  raw.socket.write(text);
  await raw.over;
  raw.socket.destroy();
  return raw.received();
}

function assertEnvelope(answer: string, status: number, type: string): void {
  assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
  assert.match(answer, /\r\nX-Request-ID: \S+\r\n/i);
  assert.match(answer, /\r\nX-RateLimit-Limit: \d+\r\n/i);
  const { error } = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));
  assert.equal(error.type, type);
  assert.ok(error.request_id.length > 0);
}

test("every method that a path does not have is a 405 with Allow, QUERY too", async () => {
  for (const method of ["QUERY", "DELETE", "PUT", "PATCH", "PROPFIND", "SEARCH", "TRACE", "OPTIONS"]) {
    const answer = await say(`${method} /v1/tts HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    assertEnvelope(answer, 405, "method_not_allowed");
    assert.match(answer, /\r\nAllow: POST\r\n/i);
    const nowhere = await say(`${method} /v2/tts HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    assertEnvelope(nowhere, 404, "not_found");
  }
});

test("a path that is not there is a 404 whatever is sent to it", async () => {
  for (const type of ["text/plain", "multipart/form-data; boundary=x", "application/json", "nonsense"]) {
    for (const path of ["/nowhere", "/v1/models"]) {
      const reply = await server.post(path, "{", { "Content-Type": type });
      assert.equal(reply.status, path === "/nowhere" ? 404 : 405, `${path} ${type}`);
    }
  }
});

test("a form with a large file to a path that is not there is a 404 that its sender can read", async () => {
  for (const path of ["/v1/audio/isolations", "/v1/files", "/nowhere"]) {
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(3_000_000)]), "speech.wav");
    form.set("model", "whisper-1");
    const headers = { Authorization: `Bearer ${server.key}` };
    const reply = await fetch(server.url + path, { method: "POST", headers, body: form });
    assert.equal(reply.status, 404, path);
    assert.equal(((await reply.json()) as { error: { type: string } }).error.type, "not_found");
  }
});

test("QUERY with a body is refused unread", async () => {
  const answer = await say(
    "QUERY /v1/models HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
  );
  assertEnvelope(answer, 405, "method_not_allowed");
});

test("HTTP/1.1 without Host is a 400 with an envelope; HTTP/1.0 needs none", async () => {
  const answer = await say("GET /health HTTP/1.1\r\nConnection: close\r\n\r\n");
  assertEnvelope(answer, 400, "invalid_request");
  assert.match(answer, /Host/);
  assert.match(await say("GET /health HTTP/1.0\r\n\r\n"), /^HTTP\/1.1 200 /);
});

test("an expectation that is not understood is a 400 with an envelope", async () => {
  const answer = await say(
    rawRequest("/v1/tts", server.key, { text: "Hi." }, { Expect: "foo", Connection: "close" }),
  );
  assertEnvelope(answer, 400, "invalid_request");
  assert.match(answer, /Expect/);
});

/** Sends the headers of a request that waits to be told to go on, and gives what is said to them. */
async function expecting(key: string, length = 15): Promise<RawSocket> {
  const raw = await openRaw(server);
  const headers = { Expect: "100-continue", "Content-Length": `${length}`, Connection: "close" };
  raw.socket.write(rawRequest("/v1/tts", key, "", headers));
  return raw;
}

test("a client that asks first is told to go on only once its key is good and its body fits", async () => {
  const welcome = await expecting(server.key);
  await until("an interim answer", () => welcome.received().includes("\r\n\r\n"));
  assert.match(welcome.received(), /^HTTP\/1.1 100 Continue\r\n\r\n/);
  welcome.socket.write('{"text": "Hi."}');
  await welcome.over;
  assert.match(welcome.received(), /\r\n\r\nHTTP\/1.1 200 /);
  welcome.socket.destroy();
  for (const [key, length, status, type] of [
    ["wrong", 15, 401, "authentication_error"],
    [server.key, 1e12, 400, "invalid_request"],
  ] as const) {
    const refused = await expecting(key, length);
    await refused.over;
    assertEnvelope(refused.received(), status, type);
    refused.socket.destroy();
  }
});

test("garbage behind a request does not show in its answer, and ends the connection after it", async () => {
  const raw = await openRaw(server);
  const body = { conversation: [{ text: "word ".repeat(100) }] };
  raw.socket.write(`${rawRequest("/v1/converse/stream", server.key, body)}\u0000garbage\r\n\r\n`);
  await raw.over;
  assert.equal(raw.received().match(/HTTP\/1\.1 /g)?.length, 1);
  assert.match(raw.received(), /event: end\ndata: .*\n\n\r\n0\r\n\r\n$/);
  raw.socket.destroy();
});

test("what is refused unread ends its connection, and what is read does not", async () => {
  const refused = await openRaw(server);
  refused.socket.write(rawRequest("/v1/tts", "wrong", "", { "Content-Length": "1000000" }));
  await refused.over;
  assert.match(refused.received(), /^HTTP\/1.1 401 [\s\S]*\r\nConnection: close\r\n/i);
  refused.socket.destroy();
  const kept = await openRaw(server);
  kept.socket.write(rawRequest("/v1/tts", "wrong", { text: "Hi." }));
  await until("the refusal", () => kept.received().includes("authentication_error"));
  assert.doesNotMatch(kept.received(), /\r\nConnection: close/i);
  kept.socket.write(rawRequest("/v1/tts", server.key, { text: "Hi." }, { Connection: "close" }));
  await kept.over;
  assert.match(kept.received(), /HTTP\/1.1 200 /);
  kept.socket.destroy();
});

test("a message repeats no more than the beginning of a client's own word", async () => {
  const long = "x".repeat(60_000);
  for (const [path, body] of [
    ["/v1/tts", { text: "Hi.", model: long }],
    ["/v1/tts", { text: "Hi.", model: long.repeat(50) }],
    ["/v1/audio/speech", { model: long, input: "Hi." }],
    ["/v1/audio/speech", { model: "tts-1", input: "Hi.", response_format: long }],
  ] as const) {
    const reply = await server.post(path, body);
    assert.equal(reply.status, 400);
    assert.ok((await reply.text()).length < 400);
  }
});
