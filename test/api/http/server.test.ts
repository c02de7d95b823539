import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until, within } from "../../waiting.ts";
import { exchange, openRaw, type RawSocket, rawRequest } from "./raw-socket.ts";
import { frameGate, startForTest, startTestServer, type TestServer } from "./start.ts";

function assertEnvelope(answer: string, status: number, type = "invalid_request"): void {
  assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
  assert.match(answer, /\r\nX-RateLimit-Limit: \d+\r\n/i);
  const { error } = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));
  assert.equal(error.type, type);
  assert.match(answer, new RegExp(`\\r\\nX-Request-ID: ${error.request_id}\\r\\n`, "i"));
}

describe("The server", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const send = (text: string) => exchange(server, text);

  test("returns 405 with Allow for every other method, QUERY included", async () => {
    const close = "HTTP/1.1\r\nHost: a\r\nConnection: close";
    for (const method of ["QUERY", "DELETE", "PUT", "PATCH", "PROPFIND", "SEARCH", "TRACE", "OPTIONS"]) {
      const answer = await send(`${method} /v1/tts ${close}\r\n\r\n`);
      assertEnvelope(answer, 405, "method_not_allowed");
      assert.match(answer, /\r\nAllow: POST\r\n/i);
      assertEnvelope(await send(`${method} /v2/tts ${close}\r\n\r\n`), 404, "not_found");
    }
    const body = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    assertEnvelope(await send(`QUERY /v1/models ${close}\r\n${body}`), 405, "method_not_allowed");
  });

  test("returns 404 for an unknown path, whatever is sent to it", async () => {
    for (const type of ["text/plain", "multipart/form-data; boundary=x", "application/json", "nonsense"])
      for (const [path, status] of [
        ["/nowhere", 404],
        ["/v1/models", 405],
      ] as const)
        assert.equal(
          (await server.post(path, "{", { "Content-Type": type })).status,
          status,
          `${path} ${type}`,
        );
  });

  test("returns 400 without Host in HTTP/1.1, but not in HTTP/1.0", async () => {
    const answer = await send("GET /health HTTP/1.1\r\nConnection: close\r\n\r\n");
    assertEnvelope(answer, 400);
    assert.match(answer, /Host/);
    assert.match(await send("GET /health HTTP/1.0\r\n\r\n"), /^HTTP\/1.1 200 /);
  });

  test("returns 400 for an unknown expectation", async () => {
    const headers = { Expect: "foo", Connection: "close" };
    const answer = await send(rawRequest("/v1/tts", server.key, { text: "Hi." }, headers));
    assertEnvelope(answer, 400);
    assert.match(answer, /Expect/);
  });

  /** Sends the headers of a request that expects 100 Continue. */
  async function expecting(key: string, length = 15): Promise<RawSocket> {
    const raw = await openRaw(server);
    const headers = { Expect: "100-continue", "Content-Length": `${length}`, Connection: "close" };
    raw.socket.write(rawRequest("/v1/tts", key, "", headers));
    return raw;
  }

  test("sends 100 Continue only for a valid key and a body within the cap", async () => {
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

  test("ends a connection with garbage after its request, without touching the reply", async () => {
    const body = { conversation: [{ text: "word ".repeat(100) }] };
    const stream = rawRequest("/v1/converse/stream", server.key, body);
    const answer = await send(`${stream}\u0000garbage\r\n\r\n`);
    assert.equal(answer.match(/HTTP\/1\.1 /g)?.length, 1);
    assert.match(answer, /event: end\ndata: .*\n\n\r\n0\r\n\r\n$/);
  });

  test("closes a connection only when it leaves the body unread", async () => {
    const refused = await send(rawRequest("/v1/tts", "wrong", "", { "Content-Length": "1000000" }));
    assert.match(refused, /^HTTP\/1.1 401 [\s\S]*\r\nConnection: close\r\n/i);
    const kept = await openRaw(server);
    kept.socket.write(rawRequest("/v1/tts", "wrong", { text: "Hi." }));
    await until("the refusal", () => kept.received().includes("authentication_error"));
    assert.doesNotMatch(kept.received(), /\r\nConnection: close/i);
    kept.socket.write(rawRequest("/v1/tts", server.key, { text: "Hi." }, { Connection: "close" }));
    await kept.over;
    assert.match(kept.received(), /HTTP\/1.1 200 /);
    kept.socket.destroy();
  });

  test("truncates a client's own words in messages", async () => {
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
});

describe("A hostile connection", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ flags: { headersTimeoutMs: "200", uploadTimeoutMs: "400" } });
  });
  after(() => server.stop());

  const POST = "POST /v1/tts HTTP/1.1\r\nHost: a\r\n";
  const isWell = async () => assert.equal((await server.get("/health", {})).status, 200);

  for (const [what, request, message] of [
    ["garbage", "\u0000\u0001\u0002 garbage\r\n\r\n", /./],
    ["a method alone", "GET\r\n\r\n", /./],
    ["a TLS hello", "\u0016\u0003\u0001\u0002hello TLS", /./],
    ["an unknown version", "GET / HTTP/9.9\r\n\r\n", /./],
    ["64 kB of headers", `${POST}X-Padding: ${"x".repeat(65_536)}\r\n\r\n`, /headers are over/],
    ["half of its headers", `${POST}X-Slow: `, /./],
    ["two lengths", `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, /./],
    ["a negative length", `${POST}Content-Length: -5\r\n\r\n`, /./],
  ] as const) {
    test(`that sends ${what} gets an error envelope and is closed`, async () => {
      const answer = await exchange(server, request);
      assertEnvelope(answer, 400);
      assert.match(answer, message);
      await isWell();
    });
  }

  test("that stops in its body is cut off", async () => {
    const length = { "Content-Length": "1000" };
    await exchange(server, rawRequest("/v1/tts", server.key, '{"text":', length));
    await isWell();
  });

  test("that closes midway leaves nothing behind", async () => {
    for (const text of ["", `${POST}Content-Length: 10\r\n\r\n{`, "GET /hea"]) {
      const { socket, over } = await openRaw(server);
      socket.end(text);
      await within("the server to close", over);
    }
    const { socket } = await openRaw(server);
    socket.write(rawRequest("/v1/converse/stream", server.key, "{", { "Content-Length": "500" }));
    socket.destroy();
    await isWell();
  });
});

describe("Pipelined requests", () => {
  const LONG = { conversation: [{ text: "word ".repeat(1_500) }], params: { max_new_tokens: 2_048 } };

  const QUEUES = { queueDepth: "100", keyQueueDepth: "100" };

  test("end with their connection, the running and the queued ones", async (t) => {
    const server = await startForTest(t, { flags: { concurrency: "4", ...QUEUES } });
    const { socket } = await openRaw(server, { isIdle: true });
    socket.write(rawRequest("/v1/converse/stream", server.key, LONG).repeat(20));
    const queued = () => server.metric("queue_depth");
    await until("queued streams", async () => (await server.begun()) >= 4 && (await queued()) > 0);
    socket.destroy();
    await until("their end", async () => (await server.begun()) + (await queued()) === 0);
    const other = await server.another();
    assert.equal((await server.post("/v1/tts", { text: "Me." }, other.auth)).status, 200);
  });

  test("are not spoken or metered once their client has left", async (t) => {
    let spoken = 0;
    const gate = frameGate(() => ++spoken > 0);
    const server = await startForTest(t, { flags: { concurrency: "1", ...QUEUES }, tone: gate.tone });
    const { socket } = await openRaw(server, { isIdle: true });
    socket.write(rawRequest("/v1/tts", server.key, { text: "Hello." }).repeat(10));
    await server.metricIs("queue_depth", 9);
    socket.destroy();
    await server.metricIs("queue_depth", 0);
    gate.open();
    await until("the first to end", async () => (await server.begun()) === 0);
    assert.ok(spoken <= 2, `${spoken} frames`);
    assert.equal((await server.usage()).requests, 0);
  });

  test("do not delay a stop when the client reads nothing", async () => {
    const server = await startTestServer({ flags: { shutdownGraceMs: "100", concurrency: "4" } });
    const { socket, over } = await openRaw(server, { isIdle: true });
    socket.write(rawRequest("/v1/converse/stream", server.key, LONG).repeat(20));
    await until("four streams to begin", async () => (await server.begun()) >= 4);
    await server.stop();
    socket.destroy();
    await over;
  });

  test("are answered in order", async (t) => {
    const server = await startForTest(t);
    const ids = ["one", "two", "three"];
    const last = { "X-Request-ID": "four", Connection: "close" };
    const requests = ids.map((id) =>
      rawRequest("/v1/tts", server.key, { text: "Hi." }, { "X-Request-ID": id }),
    );
    const answer = await exchange(
      server,
      requests.join("") + rawRequest("/v1/tts", server.key, { text: "Hi." }, last),
    );
    const answered = [...answer.matchAll(/"request_id":"(\w+)"/g)].map(([, id]) => id);
    assert.deepEqual(answered, [...ids, "four"]);
  });
});
