import assert from "node:assert/strict";
import { once } from "node:events";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { ScriptedRecogniser, segmentOf } from "../../../recognition/scripted-recogniser.ts";
import { until } from "../../../waiting.ts";
import { ScriptedWriter } from "../../../writers/scripted-writer.ts";
import { RealtimeClient } from "../../realtime/client.ts";
import { ScriptedDetector } from "../../realtime/scripted-detector.ts";
import { clientFrame, openRaw, upgradeRequest } from "../raw-socket.ts";
import { startForTest, startTestServer, type TestServer } from "../start.ts";

const WORDS = "Aubergine marmalade.";

let server: TestServer;
let client: RealtimeClient;

before(async () => {
  server = await startTestServer({
    detector: new ScriptedDetector(),
    recogniser: new ScriptedRecogniser([segmentOf(WORDS, 0)]),
    writer: new ScriptedWriter(["Yes, quite so."]),
    flags: { keyReceivingBudgetMb: "128", receivingBudgetMb: "136" },
  });
});
after(() => server.stop());
beforeEach(async () => {
  client = await RealtimeClient.open(server);
});
afterEach(async () => {
  client.socket.terminate();
  await server.metricIs("realtime_sessions", 0);
});

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
const usageOf = async (headers: Record<string, string>) =>
  (await server.usage(headers)) as { requests: number; input_audio_seconds: number };
const remaining = async (headers: Record<string, string>) =>
  Number((await server.get("/v1/usage", headers)).headers.get("x-ratelimit-remaining"));

/** Creates a key whose tokens do not refill within a test. */
async function slowKey() {
  const { key } = await server.tenancy.createKey({ label: "slow", rpm: 1, burst: 50 });
  return { key, auth: { Authorization: `Bearer ${key}` } };
}

/** Opens a session with a key and settings. */
async function openWith(key: string, session: object): Promise<RealtimeClient> {
  const own = await RealtimeClient.open({ url: server.url, key });
  own.send({ type: "session.update", session });
  await own.upTo("session.updated");
  return own;
}

function turn(own: RealtimeClient): void {
  own.speak(700);
  own.speak(800, { isSilent: true });
}

describe("A realtime session", () => {
  test("keeps only the fields that the protocol names, at any depth", async () => {
    const junk = `[${"{},".repeat(100_000)}{}]`;
    client.send(
      `{"type":"session.update","session":{"junk":${junk},"audio":{"input":{` +
        `"format":{"type":"audio/pcmu","junk":${nested(5_000)}},` +
        `"turn_detection":{"type":"server_vad","junk":${junk}},` +
        `"transcription":{"language":"en","junk":${junk}}}}}}`,
    );
    const { session } = await client.upTo("session.updated");
    assert.ok(JSON.stringify(session).length < 1_000);
    const { input } = (session as { audio: { input: Record<string, unknown> } }).audio;
    assert.deepEqual(input.format, { type: "audio/pcmu" });
    assert.deepEqual(input.transcription, { language: "en" });
  });

  test("parses a large message in a thread, functions included", async () => {
    const parameters = { type: "object", properties: { day: { type: "string" } } };
    const session = { tools: [{ type: "function", name: "clock", parameters }], junk: "x".repeat(300_000) };
    client.send({ type: "session.update", session });
    await client.upTo("session.updated");
    // Nearly the maximum of a tool's JSON.
    const many = { type: "object", enum: Array.from({ length: 30_000 }, () => "") };
    const tools = [{ type: "function", name: "clock", parameters: many }];
    client.send({ type: "session.update", session: { ...session, tools } });
    await client.upTo("session.updated");
    client.send({ type: "input_audio_buffer.append", audio: Buffer.alloc(500_000).toString("base64") });
    client.send({ type: "input_audio_buffer.append", audio: "x".repeat(300_000).replace("x", "!") });
    assert.equal(((await client.upTo("error")).error as { param: string }).param, "audio");
    client.send(`{"type":"session.update","session":{"tools":[${nested(200_000)}]}}`);
    assert.equal(((await client.upTo("error")).error as { code: string }).code, "invalid_value");
  });

  test("limits a client secret's session in the same way", async () => {
    for (const junk of [`[${"{},".repeat(100_000)}{}]`, nested(100_000)]) {
      const reply = await server.post("/v1/realtime/client_secrets", `{"session":{"x":${junk}}}`);
      assert.equal(reply.status, 200);
      assert.equal(JSON.stringify(await reply.json()).includes('"x"'), false);
    }
    const tools = `[{"type":"function","name":"a","parameters":{"a":${nested(1_000)}}}]`;
    const refused = await server.post("/v1/realtime/client_secrets", `{"session":{"tools":${tools}}}`);
    assert.equal(refused.status, 422);
    const { message } = (await refused.json()).error;
    assert.match(message, /session\.tools\[0\]\.parameters is nested more than 64/);
  });
});

describe("A realtime session that floods the server", () => {
  test("is slowed, then closed with the reason", async () => {
    const junk = `{"type":"input_audio_buffer.append","audio":"AAAA",${'"é":0,'.repeat(8_000)}"b":0}`;
    const floods: Record<string, (own: RealtimeClient) => void> = {
      events: (own) => {
        for (let count = 0; count < 40_000; count += 1) own.send({ type: "response.cancel" });
      },
      "junk around audio": (own) => {
        for (let count = 0; count < 2_000; count += 1) own.send(junk);
      },
      pongs: (own) => {
        for (let count = 0; count < 40_000; count += 1) own.socket.pong("x".repeat(100));
      },
    };
    // At once, since a session is closed after ten seconds.
    await Promise.all(
      Object.entries(floods).map(async ([what, flood]) => {
        const { key } = await server.another();
        const own = await RealtimeClient.open({ url: server.url, key });
        flood(own);
        const { code, reason } = await own.closing();
        assert.equal(code, 1_008, what);
        assert.match(reason, /sends more events than a session may/);
        const answers = own.types.filter((type) => type === "error").length;
        assert.ok(answers < 10_000, `${answers} of ${what} were answered`);
      }),
    );
  });

  test("is not closed for many small chunks of audio", async () => {
    const format = { type: "audio/pcmu" };
    client.send({ type: "session.update", session: { audio: { input: { format } } } });
    const audio = Buffer.alloc(21, 0xff).toString("base64");
    for (let count = 0; count < 10_000; count += 1) client.send({ type: "input_audio_buffer.append", audio });
    client.send({ type: "conversation.item.retrieve", item_id: "none" });
    await client.upTo("error");
    assert.equal(client.closed, null);
  });

  test("holds the memory of a message from its first bytes until it ends", async () => {
    const { socket } = await openRaw(server);
    const received = once(socket, "data");
    socket.write(upgradeRequest("/v1/realtime", { Authorization: `Bearer ${server.key}` }));
    await received;
    const holds = (bytes: number) =>
      until(`${bytes} B for messages`, async () => (await server.metric("receiving_bytes")) === bytes);
    await holds(0);
    const message = clientFrame(1, new Uint8Array(3 * 2 ** 20).fill(0x20));
    socket.write(message.subarray(0, 200_000));
    await holds(4 * 2 ** 20);
    // Control frames do not count.
    socket.write(Buffer.concat([message.subarray(200_000), clientFrame(9, "")]));
    await holds(0);
    socket.write(message.subarray(0, 200_000));
    await holds(4 * 2 ** 20);
    socket.destroy();
    await holds(0);
  });
});

describe("A session and its key", () => {
  test("end together: revoking the key closes the session with its reason", async () => {
    const other = await server.another();
    const own = await RealtimeClient.open({ url: server.url, key: other.key });
    const page = await server.post("/v1/realtime/client_secrets", {}, other.auth);
    const { value } = (await page.json()) as { value: string };
    const byPage = await RealtimeClient.open({ url: server.url, key: value });
    await server.tenancy.revokeKey(other.keyId);
    for (const session of [own, byPage]) {
      const { error } = await session.upTo("error");
      assert.equal((error as { code: string }).code, "invalid_api_key");
      assert.equal((await session.closing()).code, 1_008);
    }
  });

  test("pay a token for each turn that is transcribed without a response", async () => {
    const other = await slowKey();
    const turn_detection = { type: "server_vad", create_response: false };
    const own = await openWith(other.key, { audio: { input: { transcription: {}, turn_detection } } });
    const before = await remaining(other.auth);
    for (let count = 1; count <= 2; count += 1) {
      turn(own);
      await own.upTo("conversation.item.input_audio_transcription.completed");
      await until("its record", async () => (await usageOf(other.auth)).requests === count);
      assert.equal(await remaining(other.auth), before - count);
    }
    const { input_audio_seconds } = await usageOf(other.auth);
    assert.ok(input_audio_seconds > 1.2 && input_audio_seconds < 4, `${input_audio_seconds}`);
    await own.close();
    assert.equal((await usageOf(other.auth)).requests, 2, "no record for the session");
  });

  test("pay one token when a response answers the turn", async () => {
    const other = await slowKey();
    const own = await openWith(other.key, { audio: { input: { transcription: {} } } });
    const before = await remaining(other.auth);
    turn(own);
    await own.upTo("response.done");
    assert.equal(await remaining(other.auth), before - 1);
    await own.close();
    assert.equal((await usageOf(other.auth)).requests, 1);
  });

  test("pay for what was transcribed of a cleared turn", async () => {
    const other = await server.another();
    const turn_detection = { type: "server_vad", silence_duration_ms: 10_000 };
    const own = await openWith(other.key, { audio: { input: { turn_detection } } });
    own.speak(700);
    own.speak(300, { isSilent: true });
    // The pause starts a recognition; the reply to this event comes after that.
    own.send({ type: "conversation.item.retrieve", item_id: "none" });
    await own.upTo("error");
    own.send({ type: "input_audio_buffer.clear" });
    await own.upTo("input_audio_buffer.cleared");
    await until("its record", async () => (await usageOf(other.auth)).requests === 1);
    assert.ok((await usageOf(other.auth)).input_audio_seconds > 0.6);
    await own.close();
  });
});

test("ten minutes of silence at once delay no other session, and speech after them is detected", async (t) => {
  const detector = new ScriptedDetector();
  const recogniser = new ScriptedRecogniser();
  const own = await startForTest(t, { detector, recogniser, writer: new ScriptedWriter(["Yes."]) });
  const client = await RealtimeClient.open(own);
  const other = await RealtimeClient.open(own);
  const audio = Buffer.alloc(48_000 * 60).toString("base64");
  for (let minute = 0; minute < 10; minute += 1) client.send({ type: "input_audio_buffer.append", audio });
  turn(other);
  await other.upTo("response.done");
  client.send({ type: "conversation.item.retrieve", item_id: "none" });
  await client.upTo("error", { deadlineMs: 60_000 });
  turn(client);
  const { audio_start_ms } = await client.upTo("input_audio_buffer.speech_started");
  assert.ok(Math.abs((audio_start_ms as number) - 600_000) <= 400, `${audio_start_ms}`);
  await client.upTo("response.created");
  assert.ok(detector.resets >= 10, `${detector.resets} resets`);
  await client.close();
  await other.close();
});
