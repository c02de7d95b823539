import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { until } from "../../../waiting.ts";
import { RealtimeClient } from "../../realtime/client.ts";
import { ScriptedDetector } from "../../realtime/scripted-detector.ts";
import { startTestServer, type TestServer } from "../start.ts";

const SECRETS = "/v1/realtime/client_secrets";
const key = (value: string) => ["realtime", `openai-insecure-api-key.${value}`];
const bearer = (value: string) => ({ headers: { Authorization: `Bearer ${value}` } });
const noSessions = (server: TestServer) =>
  until("the end of all sessions", async () => (await server.metric("realtime_sessions")) === 0);

describe("A realtime session is refused", () => {
  let server: TestServer;
  before(async () => {
    const flags = { "realtime.sessionsPerKey": "2", "realtime.sessions": "3" };
    server = await startTestServer({ detector: new ScriptedDetector(), flags });
  });
  after(() => server.stop());

  test("without a valid key, wherever it is sent", async () => {
    const unknownSecret = /^the client secret is unknown, has expired/;
    for (const [options, message] of [
      [{}, /./],
      [bearer("ant_nonsense"), /./],
      [bearer("ek_0000"), unknownSecret],
      [{ protocols: key("ant_nonsense") }, /./],
      [{ protocols: key("ek_0000") }, unknownSecret],
      [{ protocols: ["realtime"] }, /./],
    ] as const) {
      const { status, headers, error } = await RealtimeClient.refused(server.url, options);
      assert.deepEqual([status, error.type], [401, "authentication_error"]);
      assert.match(error.message, message);
      assert.equal(headers["www-authenticate"], "Bearer");
      assert.match(String(headers["x-request-id"]), /^req_/);
    }
  });

  test("for an unknown model, and for WebRTC calls", async () => {
    const own = bearer(server.key);
    const model = await RealtimeClient.refused(server.url, { ...own, query: "?model=nobody" });
    assert.equal(model.status, 400);
    assert.match(model.error.message, /^model "nobody" is unknown/);
    const call = await RealtimeClient.refused(server.url, { ...own, query: "?call_id=rtc_1" });
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
    const { status, headers, error } = await RealtimeClient.refused(server.url, bearer(poor.key));
    assert.deepEqual([status, error.type], [429, "rate_limit_exceeded"]);
    assert.ok(Number(headers["retry-after"]) >= 1);
    await session.close();
    await noSessions(server);
  });

  test("when its key or the server has its maximum, until one ends", async () => {
    const sessions = [await RealtimeClient.open(server), await RealtimeClient.open(server)];
    assert.equal((await RealtimeClient.refused(server.url, bearer(server.key))).status, 429);
    const other = await server.another();
    sessions.push(await RealtimeClient.open({ url: server.url, key: other.key }));
    const third = await server.another();
    const full = await RealtimeClient.refused(server.url, { headers: third.auth });
    assert.equal(full.status, 502);
    assert.ok(Number(full.headers["retry-after"]) >= 1);
    assert.equal(await server.metric("realtime_sessions"), 3);
    for (const session of sessions) await session.close();
    await noSessions(server);
    await (await RealtimeClient.open(server)).close();
    await noSessions(server);
  });

  test("when several ask at once for the last slot", async () => {
    const opened = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const socket = RealtimeClient.connect(server.url, bearer(server.key));
        return new Promise<typeof socket | null>((resolve) => {
          socket.on("error", () => resolve(null)).once("open", () => resolve(socket));
        });
      }),
    );
    const sessions = opened.filter((socket) => socket !== null);
    assert.equal(sessions.length, 2);
    for (const socket of sessions) socket.terminate();
    await noSessions(server);
  });
});

describe("A key in the subprotocols", () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ detector: new ScriptedDetector() });
  });
  const createSecret = async (body: object) => (await server.post(SECRETS, body)).json();
  after(() => server.stop());

  test("opens a session with the protocol realtime", async () => {
    const protocols = [...key(server.key), "openai-agents-sdk.0.20.0"];
    const session = await RealtimeClient.open(server, { protocols });
    assert.equal(session.socket.protocol, "realtime");
    await session.close();
  });

  test("is never echoed, even without realtime", async () => {
    const protocol = `openai-insecure-api-key.${server.key}`;
    const socket = RealtimeClient.connect(server.url, { protocols: [protocol] });
    await new Promise((resolve) => socket.once("error", resolve).once("open", resolve));
    assert.notEqual(socket.protocol, protocol);
    socket.terminate();
  });

  test("may be a client secret, which opens several sessions with its settings", async () => {
    const { value, expires_at, session } = await createSecret({
      expires_after: { anchor: "created_at", seconds: 60 },
      session: { type: "realtime", instructions: "Be brief.", audio: { output: { voice: "ash" } } },
    });
    assert.match(value, /^ek_/);
    assert.ok(Number.isInteger(expires_at));
    assert.equal(session.instructions, "Be brief.");
    for (let count = 0; count < 2; count += 1) {
      const client = await RealtimeClient.open(server, { protocols: key(value) });
      const settings = client.events[0]!.session as typeof session;
      assert.deepEqual([settings.instructions, settings.audio.output.voice], ["Be brief.", "ash"]);
      await client.close();
    }
    assert.equal(
      (await server.get("/v1/usage", bearer(value).headers)).status,
      401,
      "it opens only sessions",
    );
  });

  test("opens a transcription for the recogniser's model", async () => {
    const { headers } = bearer(server.key);
    for (const model of ["whisper-1", "gpt-4o-transcribe"]) {
      const client = await RealtimeClient.open(server, { query: `?intent=transcription&model=${model}` });
      assert.equal((client.events[0]!.session as { type: string }).type, "transcription");
      await client.close();
    }
    const { status } = await RealtimeClient.refused(server.url, { headers, query: "?model=whisper-1" });
    assert.equal(status, 400);
  });

  test("may be a client secret for transcription", async () => {
    const { value, session } = await createSecret({ session: { type: "transcription" } });
    assert.equal(session.type, "transcription");
    const client = await RealtimeClient.open(server, { protocols: key(value) });
    assert.equal((client.events[0]!.session as { type: string }).type, "transcription");
    await client.close();
  });

  test("may be a client secret that expires while its session opens", async (t) => {
    const session = { instructions: "Be brief." };
    const { value } = await createSecret({ session });
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
    const { value } = await (await server.post(SECRETS, {}, other.auth)).json();
    await (await RealtimeClient.open(server, { protocols: key(value) })).close();
    await server.tenancy.revokeKey(other.keyId);
    assert.equal((await RealtimeClient.refused(server.url, { protocols: key(value) })).status, 401);
  });

  test("comes from a valid body, a key and a known model", async () => {
    for (const [body, status] of [
      [{ expires_after: { seconds: 5 } }, 422],
      [{ session: { model: "nobody" } }, 400],
      [{ session: { max_output_tokens: "many" } }, 422],
      [{ session: { input_audio_format: "g711_ulaw" } }, 422],
      ["{", 422],
      ["\ufeff{}", 200],
    ] as const)
      assert.equal((await server.post(SECRETS, body)).status, status);
    const broken = await server.post(SECRETS, '{"session": nobody}');
    assert.equal((await broken.json()).error.message, "the body is not valid JSON: look at byte 13");
    assert.equal((await server.post(SECRETS, {}, bearer("ek_1").headers)).status, 401);
  });
});
