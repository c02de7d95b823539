import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "../../../waiting.ts";
import { RealtimeClient } from "../../realtime/client.ts";
import { ScriptedDetector } from "../../realtime/scripted-detector.ts";
import { startTestServer, type TestServer } from "../start.ts";

const key = (value: string) => ["realtime", `openai-insecure-api-key.${value}`];

describe("A realtime session is refused", () => {
  let server: TestServer;
  before(async () => {
    const flags = { "realtime.sessionsPerKey": "2", "realtime.sessions": "3" };
    server = await startTestServer({ detector: new ScriptedDetector(), flags });
  });
  after(() => server.stop());

  test("without a valid key, wherever it is sent", async () => {
    for (const options of [
      {},
      { headers: { Authorization: "Bearer ant_nonsense" } },
      { protocols: key("ant_nonsense") },
      { protocols: key("ek_0000") },
      { protocols: ["realtime"] },
    ]) {
      const { status, headers, error } = await RealtimeClient.refused(server.url, options);
      assert.equal(status, 401);
      assert.equal(error.type, "authentication_error");
      assert.equal(headers["www-authenticate"], "Bearer");
      assert.match(String(headers["x-request-id"]), /^req_/);
    }
  });

  test("for an unknown model, and for WebRTC calls", async () => {
    const headers = { Authorization: `Bearer ${server.key}` };
    const model = await RealtimeClient.refused(server.url, { headers, query: "?model=nobody" });
    assert.equal(model.status, 400);
    assert.match(model.error.message, /^model "nobody" is unknown/);
    const call = await RealtimeClient.refused(server.url, { headers, query: "?call_id=rtc_1" });
    assert.match(call.error.message, /^call_id/);
  });

  test("with 426 without an upgrade", async () => {
    const reply = await server.get("/v1/realtime");
    assert.equal(reply.status, 426);
    assert.equal(reply.headers.get("upgrade"), "websocket");
    assert.equal((await reply.json()).error.type, "invalid_request");
    assert.equal((await server.get("/v1/realtime?model=nobody")).status, 400);
    assert.equal((await server.get("/v1/realtime", {})).status, 401);
  });

  test("over the rate limit of its key, one token a session", async () => {
    const poor = await server.tenancy.createKey({ label: "poor", rpm: 1, burst: 1 });
    const session = await RealtimeClient.open({ url: server.url, key: poor.key });
    const { status, headers, error } = await RealtimeClient.refused(server.url, {
      headers: { Authorization: `Bearer ${poor.key}` },
    });
    assert.equal(status, 429);
    assert.equal(error.type, "rate_limit_exceeded");
    assert.ok(Number(headers["retry-after"]) >= 1);
    await session.close();
    await until("its end", async () => (await server.metric("realtime_sessions")) === 0);
  });

  test("when its key or the server has its maximum, until one ends", async () => {
    const sessions = [await RealtimeClient.open(server), await RealtimeClient.open(server)];
    const headers = { Authorization: `Bearer ${server.key}` };
    assert.equal((await RealtimeClient.refused(server.url, { headers })).status, 429);
    const other = await server.another();
    sessions.push(await RealtimeClient.open({ url: server.url, key: other.key }));
    const third = await server.another();
    const full = await RealtimeClient.refused(server.url, { headers: third.auth });
    assert.equal(full.status, 502);
    assert.ok(Number(full.headers["retry-after"]) >= 1);
    assert.equal(await server.metric("realtime_sessions"), 3);
    for (const session of sessions) await session.close();
    await until("the end of all", async () => (await server.metric("realtime_sessions")) === 0);
    await (await RealtimeClient.open(server)).close();
    await until("the end of all", async () => (await server.metric("realtime_sessions")) === 0);
  });

  test("when several ask at once for the last slot", async () => {
    const opened = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const socket = RealtimeClient.connect(server.url, {
          headers: { Authorization: `Bearer ${server.key}` },
        });
        return new Promise<typeof socket | null>((resolve) => {
          socket.on("error", () => resolve(null)).once("open", () => resolve(socket));
        });
      }),
    );
    const sessions = opened.filter((socket) => socket !== null);
    assert.equal(sessions.length, 2);
    for (const socket of sessions) socket.terminate();
    await until("the end of all", async () => (await server.metric("realtime_sessions")) === 0);
  });
});

describe("A key in the subprotocols", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ detector: new ScriptedDetector() });
  });
  after(() => server.stop());

  test("opens a session with the protocol realtime", async () => {
    const protocols = [...key(server.key), "openai-agents-sdk.0.20.0"];
    const session = await RealtimeClient.open(server, { protocols });
    assert.equal(session.socket.protocol, "realtime");
    await session.close();
  });

  test("is never echoed, even without realtime", async () => {
    const socket = RealtimeClient.connect(server.url, {
      protocols: [`openai-insecure-api-key.${server.key}`],
    });
    await new Promise((resolve) => socket.once("error", resolve).once("open", resolve));
    assert.notEqual(socket.protocol, `openai-insecure-api-key.${server.key}`);
    socket.terminate();
  });

  test("may be a client secret, which opens several sessions with its settings", async () => {
    const made = await server.post("/v1/realtime/client_secrets", {
      expires_after: { anchor: "created_at", seconds: 60 },
      session: { type: "realtime", instructions: "Be brief.", audio: { output: { voice: "ash" } } },
    });
    assert.equal(made.status, 200);
    const { value, expires_at, session } = await made.json();
    assert.match(value, /^ek_/);
    assert.ok(Number.isInteger(expires_at));
    assert.equal(session.instructions, "Be brief.");
    for (let count = 0; count < 2; count += 1) {
      const client = await RealtimeClient.open(server, { protocols: key(value) });
      const { instructions, audio } = client.events[0]!.session as {
        instructions: string;
        audio: { output: { voice: string } };
      };
      assert.deepEqual([instructions, audio.output.voice], ["Be brief.", "ash"]);
      await client.close();
    }
    // It opens sessions, and nothing else.
    assert.equal((await server.get("/v1/usage", { Authorization: `Bearer ${value}` })).status, 401);
  });

  test("may be a client secret for transcription", async () => {
    const made = await server.post("/v1/realtime/client_secrets", { session: { type: "transcription" } });
    const { value, session } = await made.json();
    assert.equal(session.type, "transcription");
    const client = await RealtimeClient.open(server, { protocols: key(value) });
    assert.equal((client.events[0]!.session as { type: string }).type, "transcription");
    await client.close();
  });

  test("may be a client secret that expires while its session opens", async (t) => {
    const session = { instructions: "Be brief." };
    const made = await server.post("/v1/realtime/client_secrets", { session });
    const { value } = await made.json();
    const authenticate = server.tenancy.authenticate.bind(server.tenancy);
    const now = Date.now.bind(Date);
    t.mock.method(server.tenancy, "authenticate", async (presented: string) => {
      const key = await authenticate(presented);
      t.mock.method(Date, "now", () => now() + 3_600_000);
      return key;
    });
    const client = await RealtimeClient.open(server, { protocols: key(value) });
    assert.equal((client.events[0]!.session as typeof session).instructions, "Be brief.");
    client.send({ type: "response.create" });
    const { response } = await client.upTo("response.done");
    const { status_details } = response as { status_details?: { error?: { code: string } } };
    assert.notEqual(status_details?.error?.code, "invalid_api_key");
    await client.close();
  });

  test("is refused once the key of its secret was revoked", async () => {
    const other = await server.another();
    const { value } = await (await server.post("/v1/realtime/client_secrets", {}, other.auth)).json();
    await (await RealtimeClient.open(server, { protocols: key(value) })).close();
    await server.tenancy.revokeKey(other.keyId);
    assert.equal((await RealtimeClient.refused(server.url, { protocols: key(value) })).status, 401);
  });

  test("comes from a valid body, a key and a known model", async () => {
    const make = async (body: unknown, headers?: Record<string, string>) =>
      (await server.post("/v1/realtime/client_secrets", body, headers)).status;
    assert.equal(await make({ expires_after: { seconds: 5 } }), 422);
    assert.equal(await make({ session: { model: "nobody" } }), 400);
    assert.equal(await make({ session: { max_output_tokens: "many" } }), 422);
    assert.equal(await make("{"), 422);
    assert.equal(await make("\ufeff{}"), 200);
    const broken = await server.post("/v1/realtime/client_secrets", '{"session": nobody}');
    assert.equal((await broken.json()).error.message, "the body is not valid JSON: look at byte 13");
    assert.equal(await make({}, { Authorization: "Bearer ek_1" }), 401);
  });
});
