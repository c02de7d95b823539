import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startForTest, startTestServer } from "../start.ts";
import type { Reply } from "../wire.ts";

const server = await startTestServer();
after(() => server.stop());

const IDS = ["svc-beta-v0.3", "svc-beta-v0.2", "svc-beta-v0.1", "svc-atom-beta-v0.1"];
const idsOf = (cards: { id: string }[]) => cards.map(({ id }) => id);

test("keylessLists opens the audio lists by default, all lists, or none", async (t) => {
  const paths = ["/v1/audio/voices", "/v1/audio/models", "/v1/models", `/v1/models/${IDS[0]}`];
  for (const [keylessLists, open] of [
    ["audio", 2],
    ["all", 4],
    ["none", 0],
    [undefined, 2],
  ] as const) {
    const own = await startForTest(t, { flags: keylessLists === undefined ? {} : { keylessLists } });
    for (const [n, path] of paths.entries()) {
      assert.equal((await own.get(path, {})).status, n < open ? 200 : 401, `${keylessLists}: ${path}`);
      assert.equal((await own.get(path)).status, 200, `${keylessLists}: ${path} with a key`);
    }
    for (const path of ["/v1/info", "/v1/usage"]) assert.equal((await own.get(path, {})).status, 401);
  }
});

test("models are listed with OpenAI's fields and those of the contract", async () => {
  const list = await (await server.get("/v1/models")).json();
  assert.equal(list.object, "list");
  assert.deepEqual(idsOf(list.data), IDS);
  for (const card of list.data) {
    const { object, owned_by, modes, speakers, default: isDefault, display_name, description } = card;
    assert.deepEqual([object, owned_by, isDefault], ["model", "antiphon", card.id === IDS[0]]);
    assert.deepEqual(
      [[...modes].sort(), speakers],
      [
        ["converse", "tts"],
        ["0", "1"],
      ],
    );
    assert.ok(display_name && description);
    assert.equal(new Date(card.created * 1_000).toISOString(), "2026-11-21T00:00:00.000Z");
    assert.deepEqual(await (await server.get(`/v1/models/${card.id}`)).json(), card);
  }
  const { models, data } = await (await server.get("/v1/audio/models", {})).json();
  assert.deepEqual(data, list.data);
  assert.deepEqual(idsOf(models), IDS);
  assert.ok(models.every(({ name }: { name: string }) => name !== ""));
});

test("GET /v1/models/{id} resolves aliases and returns OpenAI's 404 for an unknown id", async () => {
  for (const name of ["tts-1", "gpt-4o-mini-tts"])
    assert.equal((await (await server.get(`/v1/models/${name}`)).json()).id, IDS[0]);
  for (const name of ["gpt-4", "SVC-beta-v0.3", "%F0%9F%8E%89", "x".repeat(9_000)]) {
    const reply = await server.get(`/v1/models/${name}`);
    assert.equal(reply.status, 404, name);
    const { error } = await reply.json();
    assert.ok(error.message.length < 200);
    assert.match(error.message, /^model ".+" is unknown: GET \/v1\/models lists the valid ids$/);
    assert.deepEqual([error.type, error.code, error.param], ["not_found", "model_not_found", "model"]);
    assert.equal(error.request_id, reply.headers.get("x-request-id"));
  }
  for (const method of ["DELETE", "POST"]) {
    const reply = await fetch(`${server.url}/v1/models/${IDS[0]}`, { method });
    assert.deepEqual([reply.status, reply.headers.get("allow")], [405, "GET, HEAD"], method);
  }
  assert.equal((await server.get("/v1/models/a/b")).status, 404);
});

const errorOf = async (reply: Reply) => (await reply.json()).error;

test("errors have a code and a param on OpenAI's paths only", async () => {
  const speech = (body: unknown, headers?: Record<string, string>) =>
    server.post("/v1/audio/speech", body, headers);
  const cases: [Reply, number, string | null, string | null][] = [
    [await speech({ model: "gpt-9", input: "Hi." }), 400, "model_not_found", "model"],
    [await speech({ input: "Hi.", voice: "bob" }), 400, null, "voice"],
    [await speech({ input: "Hi.", response_format: "aac" }), 400, null, "response_format"],
    [await speech({ input: "Hi.", speed: 9 }), 422, null, "speed"],
    [await speech({ input: "Hi.", lexicon: { "a b": "/x" } }), 400, null, "lexicon"],
    [await speech({ input: "Hi.", voice: {} }), 422, null, "voice.id"],
    [await speech({ input: " " }), 400, null, "input"],
    [await speech({}), 422, null, "input"],
    [await speech("nonsense"), 422, null, null],
    [await speech({ input: "x".repeat(100_001) }), 400, null, "input"],
    [await speech({ input: "Hi." }, { Authorization: "Bearer ant_bad" }), 401, "invalid_api_key", null],
    [await server.get("/v1/audio/speech"), 405, null, null],
    [await server.get("/v1/audio/nothing"), 404, null, null],
    [await server.get("/v1/models/%zz"), 404, null, null],
  ];
  for (const [reply, status, code, param] of cases) {
    const error = await errorOf(reply);
    assert.deepEqual([reply.status, error.code, error.param], [status, code, param], error.message);
    assert.deepEqual(Object.keys(error).sort(), ["code", "message", "param", "request_id", "type"]);
  }
  for (const reply of [
    await server.post("/v1/tts", { text: "Hi.", model: "gpt-9" }),
    await server.get("/v1/models", {}),
    await server.get("/v1/nothing"),
  ])
    assert.deepEqual(Object.keys(await errorOf(reply)).sort(), ["message", "request_id", "type"]);
});

test("429 on OpenAI's paths has the code rate_limit_exceeded", async (t) => {
  const small = await startForTest(t, { rpm: 1, burst: 1 });
  await (await small.post("/v1/audio/speech", { input: "Hi." })).arrayBuffer();
  const reply = await small.post("/v1/audio/speech", { input: "Hi." });
  assert.deepEqual([reply.status, (await errorOf(reply)).code], [429, "rate_limit_exceeded"]);
});
