import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "./start.ts";

const APP = "https://app.example";

let server: TestServer;
before(async () => {
  server = await startTestServer({ flags: { corsOrigins: `${APP},http://localhost:5173` } });
});
after(() => server.stop());

const send = (path: string, headers: Record<string, string>, method = "GET", own = server) =>
  fetch(own.url + path, { method, headers });
const asks = (origin: string, method = "POST") => ({
  Origin: origin,
  "Access-Control-Request-Method": method,
  "Access-Control-Request-Headers": "authorization,content-type,x-stainless-lang",
});
const corsOf = (reply: Response) =>
  [...reply.headers.keys()].filter((name) => name.startsWith("access-control-"));
const wordsOf = (reply: Response, name: string) => (reply.headers.get(name) ?? "").toLowerCase().split(", ");

test("a browser that asks before a call from a listed page is told what it may send", async () => {
  for (const [path, methods] of [
    ["/v1/audio/speech", "POST"],
    ["/v1/audio/transcriptions", "POST"],
    ["/v1/audio/translations", "POST"],
    ["/v1/models/tts-1", "GET, HEAD"],
  ] as const) {
    for (const origin of [APP, "http://localhost:5173"]) {
      const reply = await send(path, asks(origin), "OPTIONS");
      assert.equal(reply.status, 204);
      assert.equal(await reply.text(), "");
      assert.equal(reply.headers.get("access-control-allow-origin"), origin);
      assert.equal(reply.headers.get("access-control-allow-methods"), methods);
      assert.equal(reply.headers.get("vary"), "Origin");
      assert.ok(reply.headers.get("x-request-id"));
      const allowed = wordsOf(reply, "access-control-allow-headers");
      for (const name of ["authorization", "content-type", "x-api-key", "api-key", "xi-api-key", "*"]) {
        assert.ok(allowed.includes(name), name);
      }
    }
  }
});

test("every answer to a listed page may be read, with its headers, failures and streams too", async () => {
  const auth = { Authorization: `Bearer ${server.key}`, "Content-Type": "application/json", Origin: APP };
  const post = (path: string, body: object, headers: Record<string, string> = auth) =>
    fetch(server.url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const replies: [Response, number][] = [
    [await send("/health", { Origin: APP }), 200],
    [await send("/v1/usage", { Origin: APP }), 401],
    [await send("/v1/nothing", { Origin: APP }), 404],
    [await send("/v1/tts", { Origin: APP }), 405],
    [await post("/v1/tts", {}), 422],
    [await post("/v1/tts", { text: "Hi." }), 200],
    [await post("/v1/audio/speech", { input: "Hi.", speed: 4 }), 200],
    [await post("/v1/audio/speech", { input: "Hi.", stream_format: "sse" }), 200],
    [await post("/v1/converse/stream", { conversation: [{ text: "Hi." }] }), 200],
  ];
  for (const [reply, status] of replies) {
    await reply.arrayBuffer();
    assert.equal(reply.status, status, reply.url);
    assert.equal(reply.headers.get("access-control-allow-origin"), APP, reply.url);
    assert.equal(reply.headers.get("vary"), "Origin", reply.url);
    assert.equal(reply.headers.get("access-control-allow-credentials"), null);
    const exposed = wordsOf(reply, "access-control-expose-headers");
    const own = [...reply.headers.keys()].filter((name) =>
      /^(x-request|x-rate|rate|retry|x-anti|x-should)/.test(name),
    );
    for (const name of ["retry-after", ...own]) assert.ok(exposed.includes(name), name);
  }
});

test("a page of another origin is told nothing, and neither is anybody where no origin is listed", async () => {
  const plain = await startTestServer();
  try {
    const others = [
      "https://evil.example",
      `${APP}.evil.example`,
      "https://app.example:8443",
      "http://app.example",
      "null",
    ];
    for (const [own, origins] of [
      [server, others],
      [plain, [APP, ...others]],
    ] as const) {
      for (const origin of origins) {
        const health = await send("/health", { Origin: origin }, "GET", own);
        assert.deepEqual([health.status, corsOf(health)], [200, []], origin);
        assert.equal(health.headers.get("vary"), own === server ? "Origin" : null);
        const preflight = await send("/v1/tts", asks(origin), "OPTIONS", own);
        assert.deepEqual([preflight.status, corsOf(preflight)], [405, []], origin);
      }
    }
    assert.deepEqual(corsOf(await send("/health", {})), [], "who is no browser needs nothing");
    assert.equal((await send("/health", {})).headers.get("vary"), "Origin", "but caches must know");
  } finally {
    await plain.stop();
  }
});

test("OPTIONS that is no browser's question stays a 405, and a path that is not there a 404", async () => {
  assert.equal((await send("/v1/tts", { Origin: APP }, "OPTIONS")).status, 405);
  const nowhere = await send("/v1/nothing", asks(APP), "OPTIONS");
  assert.equal(nowhere.status, 404);
  assert.equal(nowhere.headers.get("access-control-allow-origin"), APP);
});

test("an asterisk lets every page call, without a word that names one", async () => {
  const open = await startTestServer({ flags: { corsOrigins: "*" } });
  try {
    for (const origin of [APP, "null", "app://obsidian.md"]) {
      const preflight = await send("/v1/tts", asks(origin), "OPTIONS", open);
      assert.equal(preflight.status, 204);
      const reply = await send("/health", { Origin: origin }, "GET", open);
      assert.equal(reply.headers.get("access-control-allow-origin"), "*");
      assert.equal(reply.headers.get("vary"), null);
    }
  } finally {
    await open.stop();
  }
});
