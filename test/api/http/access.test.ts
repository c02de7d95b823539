import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it, test } from "node:test";
import { pino } from "pino";
import { memoryBuckets } from "../../../src/accounts/buckets.ts";
import type { HttpDeps } from "../../../src/api/http/http-deps.ts";
import { openApiDocument } from "../../../src/api/http/openapi/openapi-document.ts";
import { createMetricsServer } from "../../../src/api/http/server.ts";
import { DEFAULT_PARAMS } from "../../../src/contract/params.ts";
import { memoryStore } from "../../accounts/memory-store.ts";
import { exchange } from "./raw-socket.ts";
import { startForTest, startTestServer, type TestServer } from "./start.ts";
import type { Reply } from "./wire.ts";

describe("Access", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ flags: { anonymousRpm: "60", anonymousBurst: "1000" } });
  });
  after(() => server.stop());

  const RATE_HEADERS = ["limit", "remaining", "reset"].map((name) => `x-ratelimit-${name}`);

  function assertCommonHeaders(response: Reply): void {
    for (const name of ["x-request-id", ...RATE_HEADERS, "ratelimit-policy", "ratelimit"])
      assert.ok(response.headers.get(name), `${name} is missing`);
  }

  async function assertError(response: Reply, status: number, type: string): Promise<string> {
    assertCommonHeaders(response);
    const { error } = await response.json();
    assert.equal(response.status, status, error.message);
    assert.equal(error.type, type);
    assert.equal(error.request_id, response.headers.get("x-request-id"));
    return error.message;
  }

  const send = (method: string, path: string, headers: Record<string, string> = {}): Promise<Reply> =>
    fetch(server.url + path, { method, headers });
  const statusWith = async (headers: Record<string, string>) =>
    (await send("GET", "/v1/usage", headers)).status;

  test("requires a key for exactly the operations that /openapi.json marks", async () => {
    type Operation = { readonly security?: readonly object[] };
    const { security, paths } = openApiDocument() as unknown as {
      readonly security: readonly object[];
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    };
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        const schemes = operation.security ?? security;
        // An empty scheme means that a setting decides.
        if (schemes.some((scheme) => Object.keys(scheme).length === 0)) continue;
        for (const headers of [{}, { "X-API-Key": "ant_nonsense" }] as Record<string, string>[]) {
          const reply = await send(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, "x"), headers);
          if (schemes.length > 0) await assertError(reply, 401, "authentication_error");
          else assert.notEqual(reply.status, 401, `${method} ${path}`);
          assertCommonHeaders(reply);
        }
      }
    }
  });

  test("takes a client secret for information and samples of voices, and nothing else", async () => {
    const headers = { Authorization: `Bearer ${await server.clientSecret(server.key, 60)}` };
    for (const path of ["/v1/info", "/v1/audio/voices/0/sample"])
      assert.equal((await send("GET", path, headers)).status, 200, path);
    for (const path of ["/v1/usage", "/v1/models"])
      await assertError(await send("GET", path, headers), 401, "authentication_error");
    await assertError(await send("POST", "/v1/audio/speech", headers), 401, "authentication_error");
    await assertError(await send("DELETE", "/v1/audio/voices/x", headers), 401, "authentication_error");
  });

  test("takes a key as a bearer token or as X-API-Key; Authorization wins", async () => {
    const good = server.key;
    const cases: [Record<string, string>, number][] = [
      [{ Authorization: `Bearer ${good}` }, 200],
      [{ Authorization: `bearer ${good}` }, 200],
      [{ "X-API-Key": good }, 200],
      [{ Authorization: `Bearer ${good}`, "X-API-Key": "ant_bad" }, 200],
      [{ Authorization: "Bearer ant_bad", "X-API-Key": good }, 401],
      [{ Authorization: `Basic ${good}`, "X-API-Key": good }, 401],
      [{ Authorization: good }, 401],
      [{ Authorization: "Bearer " }, 401],
      [{ "X-API-Key": "" }, 401],
    ];
    for (const [headers, status] of cases)
      assert.equal(await statusWith(headers), status, JSON.stringify(headers));
  });

  test("takes a key in Azure's, ElevenLabs' and Vapi's headers; the first non-empty one wins", async () => {
    const good = server.key;
    const names = ["X-API-Key", "api-key", "xi-api-key", "X-VAPI-SECRET"];
    for (const [at, name] of names.entries()) {
      assert.equal(await statusWith({ [name]: good }), 200, name);
      assert.equal(await statusWith({ [name]: `${good}x` }), 401, name);
      assert.equal(await statusWith({ [name]: good, Authorization: "Bearer ant_bad" }), 401, name);
      for (const later of names.slice(at + 1)) {
        assert.equal(await statusWith({ [name]: good, [later]: "ant_bad" }), 200, `${name} before ${later}`);
        assert.equal(await statusWith({ [name]: "ant_bad", [later]: good }), 401, `${name} before ${later}`);
        assert.equal(await statusWith({ [name]: "", [later]: good }), 200, `${later} after an empty ${name}`);
      }
    }
  });

  test("distinguishes a mistyped key from an unknown one and repeats neither", async () => {
    const typo = server.key.slice(0, -1) + (server.key.endsWith("a") ? "b" : "a");
    const reply = await send("GET", "/v1/usage", { "X-API-Key": typo });
    const message = await assertError(reply, 401, "authentication_error");
    assert.match(message, /mistyped/);
    assert.ok(!message.includes(typo));
  });

  test("returns 404 for an unknown path and 405 with Allow for a wrong method, without a key", async () => {
    for (const path of ["/v1", "/v1/tts/", "/v2/tts", "/V1/TTS", "/v1/tts/..%2f", "/%zz"])
      await assertError(await send("GET", path), 404, "not_found");
    for (const [method, path, allowed] of [
      ...["GET", "PUT", "DELETE", "PATCH", "OPTIONS"].map((each) => [each, "/v1/tts", "POST"] as const),
      ["POST", "/v1/models?x=1", "GET, HEAD"],
    ] as const) {
      const response = await send(method, path);
      assert.equal(response.headers.get("allow"), allowed);
      await assertError(response, 405, "method_not_allowed");
    }
  });

  test("keeps a request id of up to 128 visible ASCII characters", async () => {
    const own = await server.get("/health", { "X-Request-ID": "trace-1:2/3" });
    assert.equal(own.headers.get("x-request-id"), "trace-1:2/3");
    for (const bad of ["x".repeat(129), "two words", "é"]) {
      const response = await server.get("/health", { "X-Request-ID": bad });
      assert.notEqual(response.headers.get("x-request-id"), bad);
      assert.match(response.headers.get("x-request-id") ?? "", /^req_/);
    }
  });

  test("charges a token for each generation request, and for nothing else", async (t) => {
    const small = await startForTest(t, { rpm: 30, burst: 3 });
    const remaining = (response: Reply) => Number(response.headers.get("x-ratelimit-remaining"));
    for (const path of ["/v1/models", "/v1/nothing"]) assert.equal(remaining(await small.get(path)), 3);
    assert.equal(remaining(await small.post("/v1/tts", { text: "a" })), 2);
    assert.equal(remaining(await small.post("/v1/tts", {})), 1, "a request that fails later counts");
    const stream = await small.post("/v1/converse/stream", { conversation: [{ text: "a" }] });
    assert.equal(remaining(stream), 0);
    assert.ok(Number(stream.headers.get("x-ratelimit-reset")) > 0);
    await stream.text();
    const refused = await small.post("/v1/tts", "not even JSON");
    const wait = refused.headers.get("retry-after");
    assert.ok(Number(wait) >= 1 && Number(wait) <= 2);
    assert.ok(Number(refused.headers.get("retry-after-ms")) > 0);
    assert.equal(refused.headers.get("x-should-retry"), "true");
    const message = await assertError(refused, 429, "rate_limit_exceeded");
    assert.match(message, new RegExp(`retry in ${wait} second`));
    assert.equal((await small.get("/v1/usage")).status, 200);
    assert.equal((await small.usage()).requests, 2);
  });

  test("returns 429 after repeated wrong keys, while a valid key from that address works", async (t) => {
    const small = await startForTest(t, { flags: { anonymousRpm: "1", anonymousBurst: "3" } });
    const guess = () => small.get("/v1/usage", { "X-API-Key": "ant_guess" });
    for (let i = 0; i < 3; i++) await assertError(await guess(), 401, "authentication_error");
    const stopped = await guess();
    assert.ok(Number(stopped.headers.get("retry-after")) >= 1);
    await assertError(stopped, 429, "rate_limit_exceeded");
    assert.equal((await small.get("/v1/usage")).status, 200);
    const health = await small.get("/health", {});
    assert.equal(health.status, 200);
    assert.equal(health.headers.get("x-ratelimit-remaining"), "0");
  });

  test("rejects a revoked key from the next request on", async () => {
    const { key, record } = await server.tenancy.createKey({ label: "short-lived", rpm: 10, burst: 10 });
    const get = () => server.get("/v1/usage", { "X-API-Key": key });
    assert.equal((await get()).status, 200);
    await server.tenancy.revokeKey(record.keyId);
    assert.equal((await get()).status, 401);
  });

  test("reports limits, defaults and health as the contract has them", async () => {
    const { backend, defaults, limits, param_schema } = await (await server.get("/v1/info")).json();
    assert.equal(backend.sample_rate, 24_000);
    assert.ok(backend.name && backend.kind);
    assert.deepEqual(defaults, DEFAULT_PARAMS);
    const expected = {
      max_text_chars: 8_000,
      max_speech_chars: 100_000,
      max_whole_speech_chars: 4_096,
      max_turns: 64,
      max_turn_audio_bytes: 26_214_400,
      max_voice_bytes: 26_214_400,
      min_voice_seconds: 1,
      kept_voice_seconds: 30,
      key_max_voices: 100,
      min_new_tokens: 16,
      max_new_tokens: 2_048,
    };
    assert.deepEqual(limits, { ...limits, ...expected });
    assert.deepEqual(
      param_schema.map((param: { name: string }) => param.name),
      Object.keys(defaults),
    );
    const health = await (await server.get("/health", {})).json();
    assert.deepEqual(health, { backend: "tone", ready: true, status: "ok" });
  });
  test("reports unavailable in /health, and 502 in /ready, without a model or a store", async (t) => {
    for (const options of [{ canSpeak: () => false }, { store: { ...memoryStore(), isWell: () => false } }]) {
      const mute = await startForTest(t, options);
      const response = await mute.get("/health", {});
      assert.equal(response.status, 200);
      assert.deepEqual(await response.json(), { backend: "tone", ready: false, status: "unavailable" });
      const ready = await mute.get("/ready", {});
      assert.equal(ready.status, 502);
      assert.equal((await ready.json()).error.type, "inference_error");
      assert.ok(Number(ready.headers.get("retry-after")) >= 1);
    }
    assert.equal((await server.get("/ready", {})).status, 200);
  });

  test("turns /metrics off, or moves it to its own port", async (t) => {
    const off = await startForTest(t, { flags: { "metrics.enabled": "false" } });
    assert.equal((await off.get("/metrics", {})).status, 404);
    const apart = await startForTest(t, { flags: { "metrics.port": "0" } });
    assert.equal((await apart.get("/metrics", {})).status, 404);
    const alone: Reply = await fetch(apart.metricsUrl ?? "");
    assertCommonHeaders(alone);
    assert.match(await alone.text(), /antiphon_queue_depth/);
  });

  test("rejects a route that does not declare its access", async () => {
    const timeouts = { headersTimeoutMs: 1_000, uploadTimeoutMs: 1_000, stallTimeoutMs: 1_000 };
    const options = { ...timeouts, bodyLimitBytes: 1_024, trustProxy: false, corsOrigins: [] };
    const deps = { options, logger: pino({ level: "silent" }), requestReader: { hasQueuedBodies: false } };
    const app = createMetricsServer(deps as unknown as HttpDeps);
    const nothing = async () => "";
    assert.throws(() => app.get("/v1/forgotten", nothing), /GET \/v1\/forgotten does not state its access/);
    assert.throws(
      () => app.post("/v1/forgotten", { config: { speaks: false } as never }, nothing),
      /POST \/v1\/forgotten does not state its access/,
    );
    app.get("/v1/open", { config: { access: "open" } }, nothing);
    await app.close();
  });
});

describe("With a shared store,", () => {
  const calls: string[] = [];
  let server: TestServer;
  before(async () => {
    const [store, buckets] = [memoryStore(), memoryBuckets()];
    const logged =
      <A extends unknown[], R>(name: string, method: (...args: A) => R) =>
      (...args: A): R => {
        calls.push(name);
        return method(...args);
      };
    server = await startTestServer({
      rpm: 600,
      burst: 7,
      flags: { anonymousRpm: "30", anonymousBurst: "20", keylessLists: "all" },
      isStoreShared: true,
      store: { ...store, findKey: logged("store", store.findKey) },
      buckets: { ...buckets, take: logged("take", buckets.take), peek: logged("peek", buckets.peek) },
    });
  });
  after(() => server.stop());
  beforeEach(() => calls.splice(0));

  const limitOf = async (path: string, headers?: Record<string, string>, on = server) =>
    (await on.get(path, headers)).headers.get("x-ratelimit-limit");

  it("a request reads the key from the store, then its bucket, once each", async () => {
    await server.get("/v1/usage");
    assert.deepEqual(calls.splice(0), ["store", "peek"]);
    await (await server.post("/v1/tts", { text: "Hi." })).text();
    assert.deepEqual(calls, ["store", "take"]);
  });

  it("open routes and unknown paths read nothing, and report the bucket of the cached key", async () => {
    await server.get("/v1/usage");
    calls.splice(0);
    for (const path of ["/health", "/ready", "/metrics", "/v1/models", "/v1/audio/voices", "/nothing"]) {
      assert.equal(await limitOf(path), "600", path);
      assert.equal(await limitOf(path, {}), "30", path);
    }
    assert.deepEqual(calls, []);
  });

  it("open routes report the address's bucket for an unseen or revoked key", async () => {
    const { auth, keyId } = await server.another();
    assert.equal(await limitOf("/health", auth), "30");
    await server.get("/v1/usage", auth);
    assert.equal(await limitOf("/health", auth), "600");
    await server.tenancy.revokeKey(keyId);
    await server.get("/v1/usage", auth);
    assert.equal(await limitOf("/health", auth), "30");
  });

  it("a request without a well-formed key reads nothing", async () => {
    for (const headers of [{}, { "X-API-Key": "ant_guess" }] as Record<string, string>[])
      assert.equal((await server.get("/v1/usage", headers)).status, 401);
    assert.match(await exchange(server, "nonsense\r\n\r\n"), /^HTTP\/1.1 400 [\s\S]*X-RateLimit-Limit: 30/);
    assert.deepEqual(calls, []);
  });

  test("a server with its own store reports a key's bucket on open routes at once", async (t) => {
    const alone = await startForTest(t, { rpm: 600, flags: { anonymousRpm: "30" } });
    const { auth, keyId } = await alone.another();
    for (const path of ["/health", "/ready", "/metrics", "/v1/audio/voices", "/nothing"])
      assert.equal(await limitOf(path, auth, alone), "600", path);
    await alone.tenancy.revokeKey(keyId);
    assert.equal(await limitOf("/health", auth, alone), "30");
  });
});

describe("CORS", () => {
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
  const wordsOf = (reply: Response, name: string) =>
    (reply.headers.get(name) ?? "").toLowerCase().split(", ");

  test("answers a preflight from a listed origin with what it may send", async () => {
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
        for (const name of ["authorization", "content-type", "x-api-key", "api-key", "xi-api-key", "*"])
          assert.ok(allowed.includes(name), name);
      }
    }
  });

  test("lets a listed origin read every reply, its headers, errors and streams", async () => {
    const headers = { Origin: APP };
    const post = (path: string, body: object) => server.post(path, body, headers) as Promise<Response>;
    const replies: [Response, number][] = [
      [await send("/health", headers), 200],
      [await send("/v1/usage", headers), 401],
      [await send("/v1/nothing", headers), 404],
      [await send("/v1/tts", headers), 405],
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

  test("sends no header to an unlisted origin, nor when no origin is listed", async (t) => {
    const plain = await startForTest(t);
    const others = [
      "https://evil.example",
      `${APP}.evil.example`,
      `${APP}:8443`,
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
    const direct = await send("/health", {});
    assert.deepEqual([corsOf(direct), direct.headers.get("vary")], [[], "Origin"], "Vary, for caches");
  });

  test("returns 405 for OPTIONS without a preflight, and 404 for an unknown path", async () => {
    assert.equal((await send("/v1/tts", { Origin: APP }, "OPTIONS")).status, 405);
    const nowhere = await send("/v1/nothing", asks(APP), "OPTIONS");
    assert.equal(nowhere.status, 404);
    assert.equal(nowhere.headers.get("access-control-allow-origin"), APP);
  });

  test("allows every origin with *, without Vary", async (t) => {
    const open = await startForTest(t, { flags: { corsOrigins: "*" } });
    for (const origin of [APP, "null", "app://obsidian.md"]) {
      const preflight = await send("/v1/tts", asks(origin), "OPTIONS", open);
      assert.equal(preflight.status, 204);
      const reply = await send("/health", { Origin: origin }, "GET", open);
      assert.equal(reply.headers.get("access-control-allow-origin"), "*");
      assert.equal(reply.headers.get("vary"), null);
    }
  });
});
