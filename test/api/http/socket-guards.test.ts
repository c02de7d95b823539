import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, describe, test } from "node:test";
import pino from "pino";
import { ScriptedRecogniser, segmentOf } from "../../recognition/scripted-recogniser.ts";
import { until, within } from "../../waiting.ts";
import { RealtimeClient } from "../realtime/client.ts";
import { ScriptedDetector } from "../realtime/scripted-detector.ts";
import { TwilioCall } from "../realtime/twilio-call.ts";
import { openRaw, type RawSocket } from "./raw-socket.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./start.ts";

let server: TestServer | null = null;

async function start(options: TestServerOptions = {}): Promise<TestServer> {
  server = await startTestServer({ detector: new ScriptedDetector(), ...options });
  return server;
}

afterEach(async () => {
  await server?.stop();
  server = null;
});

const TEXT = 1;
const ROUTE = "/v1/telephony/twilio";

/** A WebSocket of whose protocol only what the test writes is kept: it answers no close. */
async function openStubborn(own: TestServer, path = ROUTE): Promise<RawSocket> {
  const raw = await openRaw(own);
  raw.socket.write(
    `GET ${path} HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  await until("an answer", () => raw.received().includes("\r\n\r\n"));
  return raw;
}

/** A whole frame, whose mask is zeros. */
function frame(opcode: number, payload: string | Uint8Array): Buffer {
  const bytes = Buffer.from(payload as string);
  const head = Buffer.alloc(bytes.length < 126 ? 2 : bytes.length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (head.length === 2 ? bytes.length : head.length === 4 ? 126 : 127);
  if (head.length === 4) head.writeUInt16BE(bytes.length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(bytes.length), 2);
  return Buffer.concat([head, Buffer.alloc(4), bytes]);
}

/** The code and the reason that the server has closed with. */
async function closing({ received }: RawSocket): Promise<{ readonly code: number; readonly reason: string }> {
  let bytes = Buffer.alloc(0);
  await until("a close frame", () => {
    bytes = Buffer.from(received().slice(received().indexOf("\r\n\r\n") + 4), "latin1");
    return bytes.length >= 2 && bytes.length >= 2 + bytes[1]!;
  });
  assert.equal(bytes[0], 0x88);
  return { code: bytes.readUInt16BE(2), reason: bytes.subarray(4, 2 + bytes[1]!).toString() };
}

const startOf = (parameters: Record<string, string>) =>
  JSON.stringify({
    event: "start",
    start: {
      streamSid: "MZ1",
      mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8_000, channels: 1 },
      customParameters: parameters,
    },
  });

/** Whoever ignores a close is cut: well before `ws` would, by itself, after 30 s. */
const cut = ({ over }: RawSocket) => within("the end of the connection", over, { deadlineMs: 15_000 });

describe("a call that has not said who pays for it", () => {
  test("is cut soon after it was refused, whatever it still sends", async () => {
    const raw = await openStubborn(await start());
    raw.socket.write(frame(TEXT, startOf({ key: "ant_wrong" })));
    assert.equal((await closing(raw)).code, 1_008);
    const sending = setInterval(() => raw.socket.write(frame(TEXT, "x".repeat(60_000))), 5);
    await cut(raw).finally(() => clearInterval(sending));
    raw.socket.destroy();
  });

  test("sends no message of more than 64 KiB, of which nothing is read", async () => {
    const own = await start();
    const raw = await openStubborn(own);
    // Its length alone says so.
    raw.socket.write(frame(TEXT, "x".repeat(64 * 1024 + 1)).subarray(0, 14));
    assert.equal((await closing(raw)).code, 1_009);
    raw.socket.destroy();
    // The limit of others is theirs.
    const client = await RealtimeClient.open(own);
    client.send("x".repeat(70_000));
    await client.upTo("error");
    await client.close();
    const odd = await openStubborn(own, "/v1/telephony/%74wilio");
    odd.socket.write(frame(TEXT, "x".repeat(64 * 1024 + 1)).subarray(0, 14));
    assert.equal((await closing(odd)).code, 1_009);
    odd.socket.destroy();
  });

  test("is one of eight of its network; a stop, and a refusal, makes room at once", async () => {
    const own = await start();
    const eight = [];
    for (let count = 0; count < 8; count += 1) eight.push(await openStubborn(own));
    const ninth = await openStubborn(own);
    assert.match(
      ninth.received(),
      /^HTTP\/1\.1 429 [\s\S]*8 streams of this key or network have not started/,
    );
    eight[0]!.socket.write(frame(TEXT, '{"event":"stop"}'));
    assert.equal((await closing(eight[0]!)).code, 1_000);
    eight[1]!.socket.write(frame(TEXT, startOf({ key: "ant_wrong" })));
    assert.equal((await closing(eight[1]!)).code, 1_008);
    // Those two ignore it, and are still there.
    const more = [await openStubborn(own), await openStubborn(own)];
    for (const each of more) assert.match(each.received(), /^HTTP\/1\.1 101 /);
    for (const each of [...eight, ...more, ninth]) each.socket.destroy();
  });

  test("is told about its parameter, not about headers, and what a call cannot be", async () => {
    const own = await start();
    const refused = async (parameters: Record<string, string>) => {
      const call = await TwilioCall.open(own.url);
      call.start(parameters);
      return call.upToClose();
    };
    assert.deepEqual(await refused({}), {
      code: 1_008,
      reason: "the API key is missing: send it as the stream's parameter key",
    });
    assert.match((await refused({ key: "ek_0" })).reason, /^the client secret is unknown, has expired,/);
    for (const session of [{ output_modalities: ["text"] }, { type: "transcription" }]) {
      const made = await own.post("/v1/realtime/client_secrets", { session });
      const { value } = (await made.json()) as { readonly value: string };
      const { code, reason } = await refused({ key: value });
      assert.deepEqual([code, /^a call is spoken/.test(reason)], [1_008, true]);
    }
  });
});

test("a client secret that is good no longer is called one", async () => {
  const own = await start();
  const headers = { Authorization: "Bearer ek_0000" };
  const { status, error } = await RealtimeClient.refused(own.url, { headers });
  assert.equal(status, 401);
  assert.match(error.message, /^the client secret is unknown, has expired/);
});

test("frames that are none are a line at info, without a stack", async () => {
  const lines: Record<string, unknown>[] = [];
  const sink = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const own = await start({ logger: pino({ level: "info" }, sink) });
  const odd = [
    frame(3, ""),
    frame(TEXT, Uint8Array.of(0xff, 0xfe)),
    Buffer.from([0x81, 0x01, 0x41]),
    frame(TEXT, "x".repeat(70_000)),
  ];
  for (const bytes of odd) {
    const raw = await openStubborn(own);
    raw.socket.write(bytes);
    await closing(raw);
    raw.socket.destroy();
  }
  const told = () => lines.filter(({ msg }) => /broke the protocol/.test(`${msg}`));
  await until("their lines", () => told().length === odd.length);
  for (const line of lines)
    assert.ok((line.level as number) <= 30 && !JSON.stringify(line).includes("    at "));
});

describe("an event that is large", () => {
  test("of many values is refused unless it is audio, and the session goes on", async () => {
    const server = await start();
    const many = (unit: string) => unit.repeat(Math.ceil((1.5 * 2 ** 20) / unit.length));
    for (const text of [`{"type":"input_audio_buffer.clear","x":[${many("{},")}0]}`, many("["), many('"')]) {
      const client = await RealtimeClient.open(server);
      client.send(text);
      const { error } = (await client.upTo("error")) as unknown as {
        error: { code: string; message: string };
      };
      assert.deepEqual([error.code, /^the event is too large/.test(error.message)], ["invalid_value", true]);
      client.send(`{"type":"input_audio_buffer.append","audio":"AAAA","x":[${many("1,")}1]}`);
      client.send({ type: "input_audio_buffer.clear" });
      await client.upTo("input_audio_buffer.cleared");
      await client.close();
    }
  });

  test("of sound is taken, however its members are ordered and written", async () => {
    const client = await RealtimeClient.open(await start());
    client.send({ type: "session.update", session: { audio: { input: { turn_detection: null } } } });
    const audio = Buffer.alloc(2 ** 20, 255).toString("base64");
    for (const text of [
      JSON.stringify({ audio, type: "input_audio_buffer.append", event_id: "a" }),
      // As PHP writes it.
      `{"type":"input_audio_buffer.append","audio":"${audio.replaceAll("/", "\\/")}"}`,
    ]) {
      client.send(text);
      client.send({ type: "input_audio_buffer.commit" });
      await client.upTo("input_audio_buffer.committed");
    }
    await client.close();
  });
});

test("audio that is no base64 is refused; without padding, for addresses, or in lines it is some", async () => {
  const client = await RealtimeClient.open(await start());
  for (const audio of ["%%%%", "AA==AA==", "AAAA\u00e4"]) {
    client.send({ type: "input_audio_buffer.append", audio, event_id: "mine" });
    const { error } = (await client.upTo("error")) as unknown as { error: Record<string, string> };
    assert.deepEqual([error.code, error.param, error.event_id], ["invalid_value", "audio", "mine"]);
  }
  for (const audio of ["", "AA", "AA==", "-_-_", "+/+/", "AAAA\nAAAA\n"])
    client.send({ type: "input_audio_buffer.append", audio });
  client.send({ type: "conversation.item.retrieve", item_id: "none" });
  const { error } = (await client.upTo("error")) as unknown as { error: Record<string, string> };
  assert.equal(error.code, "item_retrieve_invalid_item_id");
  await client.close();
});

describe("a client whose pongs do not come", () => {
  const flags = { heartbeatMs: "100" };

  test("is there as long as anything comes of it", async () => {
    const own = await start({ flags });
    const client = await RealtimeClient.open(own, {
      headers: { Authorization: `Bearer ${own.key}` },
      answersPings: false,
    });
    for (let count = 0; count < 8; count += 1) {
      await within("a ping", once(client.socket, "ping"));
      client.send({ type: "input_audio_buffer.clear" });
    }
    await client.upTo("input_audio_buffer.cleared");
    client.socket.terminate();
  });

  test("since the server reads nothing of it just now, is there", async () => {
    const recogniser = new ScriptedRecogniser([segmentOf("Yes.", 0)]);
    const own = await start({ flags, recogniser });
    const client = await RealtimeClient.open(own);
    recogniser.hold();
    client.send({ type: "session.update", session: { audio: { input: { turn_detection: null } } } });
    // Two turns wait to be heard, and no more are taken.
    for (let count = 0; count < 60; count += 1) {
      client.speak(200, { isSilent: true });
      client.send({ type: "input_audio_buffer.commit" });
    }
    for (let count = 0; count < 8; count += 1) await within("a ping", once(client.socket, "ping"));
    recogniser.release();
    for (let count = 0; count < 60; count += 1) await client.upTo("input_audio_buffer.committed");
    client.socket.terminate();
  });
});
