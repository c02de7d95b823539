import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pino } from "pino";
import type { HttpDeps } from "../../../src/api/http/http-deps.ts";
import { openApiDocument } from "../../../src/api/http/openapi/openapi-document.ts";
import { createMetricsServer } from "../../../src/api/http/server.ts";
import { memoryStore } from "../../accounts/memory-store.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./start.ts";
import type { Reply } from "./wire.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer({ flags: { anonymousRpm: "60", anonymousBurst: "1000" } });
});
after(() => server.stop());

const KEYED: [string, string][] = [
  ["POST", "/v1/tts"],
  ["POST", "/v1/converse"],
  ["POST", "/v1/converse/stream"],
  ["GET", "/v1/models"],
  ["GET", "/v1/info"],
  ["GET", "/v1/usage"],
];

const RATE_HEADERS = [
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "ratelimit-policy",
  "ratelimit",
];

function assertCommonHeaders(response: Reply): void {
  assert.ok(response.headers.get("x-request-id"));
  for (const name of RATE_HEADERS) assert.ok(response.headers.get(name) !== null, `${name} is missing`);
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

test("every endpoint under /v1 wants a key; /health, /metrics and /openapi.json do not", async () => {
  for (const [method, path] of KEYED) {
    await assertError(await send(method, path), 401, "authentication_error");
    await assertError(await send(method, path, { "X-API-Key": "ant_nonsense" }), 401, "authentication_error");
  }
  for (const path of ["/health", "/metrics", "/openapi.json"]) {
    const response = await send("GET", path);
    assert.equal(response.status, 200);
    assertCommonHeaders(response);
  }
});

test("every operation of /openapi.json wants a key where it says so, and only there", async () => {
  const { security, paths } = openApiDocument() as unknown as Described;
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const schemes = operation.security ?? security;
      // What asks for a key by the settings.
      if (schemes.some((scheme) => Object.keys(scheme).length === 0)) continue;
      const { status } = await send(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, "x"));
      assert.equal(status === 401, schemes.length > 0, `${method} ${path}: ${status}`);
    }
  }
});

interface Described {
  readonly security: readonly object[];
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly security?: readonly object[] }>>>
  >;
}

test("a key is taken as a bearer token or as X-API-Key, and Authorization decides when both are there", async () => {
  const good = server.key;
  const status = async (headers: Record<string, string>) => (await send("GET", "/v1/usage", headers)).status;
  assert.equal(await status({ Authorization: `Bearer ${good}` }), 200);
  assert.equal(await status({ Authorization: `bearer ${good}` }), 200);
  assert.equal(await status({ "X-API-Key": good }), 200);
  assert.equal(await status({ Authorization: `Bearer ${good}`, "X-API-Key": "ant_bad" }), 200);
  assert.equal(await status({ Authorization: "Bearer ant_bad", "X-API-Key": good }), 401);
  assert.equal(await status({ Authorization: `Basic ${good}`, "X-API-Key": good }), 401);
  assert.equal(await status({ Authorization: good }), 401);
  assert.equal(await status({ Authorization: "Bearer " }), 401);
  assert.equal(await status({ "X-API-Key": "" }), 401);
});

test("a key is taken by the names of Azure, ElevenLabs and Vapi, and of several the first that is not empty decides", async () => {
  const good = server.key;
  const status = async (headers: Record<string, string>) => (await send("GET", "/v1/usage", headers)).status;
  const names = ["X-API-Key", "api-key", "xi-api-key", "X-VAPI-SECRET"];
  for (const [at, name] of names.entries()) {
    assert.equal(await status({ [name]: good }), 200, name);
    assert.equal(await status({ [name]: `${good}x` }), 401, name);
    assert.equal(await status({ [name]: good, Authorization: "Bearer ant_bad" }), 401, name);
    for (const later of names.slice(at + 1)) {
      assert.equal(await status({ [name]: good, [later]: "ant_bad" }), 200, `${name} before ${later}`);
      assert.equal(await status({ [name]: "ant_bad", [later]: good }), 401, `${name} before ${later}`);
      assert.equal(await status({ [name]: "", [later]: good }), 200, `${later} where ${name} is empty`);
    }
  }
});

test("a mistyped key is told from an unknown one, and neither is repeated", async () => {
  const typo = server.key.slice(0, -1) + (server.key.endsWith("a") ? "b" : "a");
  const message = await assertError(
    await send("GET", "/v1/usage", { "X-API-Key": typo }),
    401,
    "authentication_error",
  );
  assert.match(message, /mistyped/);
  assert.ok(!message.includes(typo));
});

test("an unknown path is a 404 and a wrong method a 405 with Allow, before authentication", async () => {
  for (const path of ["/", "/v1", "/v1/tts/", "/v2/tts", "/V1/TTS", "/v1/tts/..%2f", "/%zz"]) {
    if (path === "/") continue;
    await assertError(await send("GET", path), 404, "not_found");
  }
  for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
    const response = await send(method, "/v1/tts");
    assert.equal(response.headers.get("allow"), "POST");
    await assertError(response, 405, "method_not_allowed");
  }
  const response = await send("POST", "/v1/models?x=1");
  assert.equal(response.headers.get("allow"), "GET, HEAD");
  await assertError(response, 405, "method_not_allowed");
});

test("a client's own request id is kept if it is visible ASCII of at most 128 characters", async () => {
  const own = await server.get("/health", { "X-Request-ID": "trace-1:2/3" });
  assert.equal(own.headers.get("x-request-id"), "trace-1:2/3");
  for (const bad of ["x".repeat(129), "two words", "é"]) {
    const response = await server.get("/health", { "X-Request-ID": bad });
    assert.notEqual(response.headers.get("x-request-id"), bad);
    assert.match(response.headers.get("x-request-id") ?? "", /^req_/);
  }
});

test("a key's bucket is spent by generation alone, request by request, and refuses with the wait", async () => {
  const small = await startTestServer({ rpm: 30, burst: 3 });
  try {
    const remaining = (response: Reply) => Number(response.headers.get("x-ratelimit-remaining"));
    assert.equal(remaining(await small.get("/v1/models")), 3);
    assert.equal(remaining(await small.get("/v1/nothing")), 3);
    assert.equal(remaining(await small.post("/v1/tts", { text: "a" })), 2);
    assert.equal(remaining(await small.post("/v1/tts", {})), 1, "a request that fails later was a request");
    const stream = await small.post("/v1/converse/stream", { conversation: [{ text: "a" }] });
    assert.equal(remaining(stream), 0);
    assert.ok(Number(stream.headers.get("x-ratelimit-reset")) > 0);
    await stream.text();
    const refused = await small.post("/v1/tts", "not even JSON");
    const wait = refused.headers.get("retry-after");
    assert.ok(Number(wait) >= 1 && Number(wait) <= 2);
    assert.ok(Number(refused.headers.get("retry-after-ms")) > 0);
    assert.equal(refused.headers.get("x-should-retry"), "true");
    assert.match(
      await assertError(refused, 429, "rate_limit_exceeded"),
      new RegExp(`retry in ${wait} second`),
    );
    assert.equal((await small.get("/v1/usage")).status, 200);
    assert.equal((await (await small.get("/v1/usage")).json()).requests, 2);
  } finally {
    await small.stop();
  }
});

test("guessing keys ends in 429, and a valid key from the same address keeps working", async () => {
  const small = await startTestServer({ flags: { anonymousRpm: "1", anonymousBurst: "3" } });
  try {
    const guess = () => small.get("/v1/usage", { "X-API-Key": "ant_guess" });
    for (let i = 0; i < 3; i++) await assertError(await guess(), 401, "authentication_error");
    const stopped = await guess();
    assert.ok(Number(stopped.headers.get("retry-after")) >= 1);
    await assertError(stopped, 429, "rate_limit_exceeded");
    assert.equal((await small.get("/v1/usage")).status, 200);
    const health = await small.get("/health", {});
    assert.equal(health.status, 200);
    assert.equal(health.headers.get("x-ratelimit-remaining"), "0");
  } finally {
    await small.stop();
  }
});

test("a revoked key is refused from the next request on", async () => {
  const { key, record } = await server.tenancy.createKey({ label: "short-lived", rpm: 10, burst: 10 });
  const get = () => server.get("/v1/usage", { "X-API-Key": key });
  assert.equal((await get()).status, 200);
  await server.tenancy.revokeKey(record.keyId);
  assert.equal((await get()).status, 401);
});

test("models, info and health tell what the contract says", async () => {
  const { data } = await (await server.get("/v1/models")).json();
  assert.deepEqual(
    data.map((card: { id: string }) => card.id),
    ["svc-beta-v0.3", "svc-beta-v0.2", "svc-beta-v0.1", "svc-atom-beta-v0.1"],
  );
  for (const card of data) {
    assert.deepEqual([...card.modes].sort(), ["converse", "tts"]);
    assert.deepEqual(card.speakers, ["0", "1"]);
    assert.equal(card.default, card.id === "svc-beta-v0.3");
    assert.ok(card.display_name && card.description);
  }
  const info = await (await server.get("/v1/info")).json();
  assert.equal(info.backend.sample_rate, 24_000);
  assert.ok(info.backend.name && info.backend.kind);
  assert.deepEqual(info.defaults, {
    temperature: 0.7,
    acoustic_temperature: null,
    top_k: null,
    repetition_penalty: 3,
    penalty_window: 20,
    max_new_tokens: 512,
    audio_quality: "high",
  });
  assert.equal(info.limits.max_text_chars, 8_000);
  assert.equal(info.limits.max_speech_chars, 4_096);
  assert.equal(info.limits.max_turns, 64);
  assert.equal(info.limits.max_turn_audio_bytes, 26_214_400);
  assert.equal(info.limits.max_voice_bytes, 26_214_400);
  assert.equal(info.limits.min_voice_seconds, 1);
  assert.equal(info.limits.kept_voice_seconds, 30);
  assert.equal(info.limits.key_max_voices, 100);
  assert.equal(info.limits.min_new_tokens, 16);
  assert.equal(info.limits.max_new_tokens, 2_048);
  assert.deepEqual(
    info.param_schema.map((knob: { name: string }) => knob.name),
    Object.keys(info.defaults),
  );
  const health = await (await server.get("/health", {})).json();
  assert.deepEqual(health, { backend: "tone", ready: true, status: "ok" });
});

test("health says when nothing can be spoken or metered, and keeps answering; ready says it by its status", async () => {
  const ways: TestServerOptions[] = [
    { canSpeak: () => false },
    { store: { ...memoryStore(), isWell: () => false } },
  ];
  for (const way of ways) {
    const mute = await startTestServer(way);
    try {
      const response = await mute.get("/health", {});
      assert.equal(response.status, 200);
      assert.deepEqual(await response.json(), { backend: "tone", ready: false, status: "unavailable" });
      const ready = await mute.get("/ready", {});
      assert.equal(ready.status, 502);
      assert.equal((await ready.json()).error.type, "inference_error");
      assert.ok(Number(ready.headers.get("retry-after")) >= 1);
    } finally {
      await mute.stop();
    }
  }
  assert.equal((await server.get("/ready", {})).status, 200);
});

test("metrics count responses by route and status, and what was metered", async () => {
  await (await server.post("/v1/tts", { text: "Count me." })).json();
  const response = await server.get("/metrics", {});
  const text = await response.text();
  assert.match(text, /antiphon_http_requests_total\{route="\/v1\/tts",method="POST",status="200"\} \d+/);
  assert.match(text, /antiphon_http_requests_total\{route="\/v1\/usage",method="GET",status="401"\} \d+/);
  assert.match(text, /antiphon_input_characters_total [1-9]/);
  assert.match(text, /antiphon_audio_seconds_total\{direction="out"\} [0-9.]+/);
});

test("metrics can be switched off, or bound to an address of their own", async () => {
  const off = await startTestServer({ flags: { "metrics.enabled": "false" } });
  assert.equal((await off.get("/metrics", {})).status, 404);
  await off.stop();
  const apart = await startTestServer({ flags: { "metrics.port": "0" } });
  try {
    assert.equal((await apart.get("/metrics", {})).status, 404);
    const alone: Reply = await fetch(apart.metricsUrl ?? "");
    assertCommonHeaders(alone);
    assert.match(await alone.text(), /antiphon_queue_depth/);
  } finally {
    await apart.stop();
  }
});

test("the OpenAPI document names every endpoint, and every reference in it leads somewhere", async () => {
  const document = await (await server.get("/openapi.json", {})).json();
  assert.equal(document.openapi, "3.1.0");
  for (const [, path] of KEYED) assert.ok(document.paths[path], path);
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  assert.ok(references.length > 10);
  for (const [, name] of references) assert.ok(document.components.schemas[name ?? ""], name);
});

test("a route that does not state its access cannot be registered", async () => {
  const options = {
    headersTimeoutMs: 1_000,
    uploadTimeoutMs: 1_000,
    stallTimeoutMs: 1_000,
    bodyLimitBytes: 1_024,
    trustProxy: false,
    corsOrigins: [],
  };
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
