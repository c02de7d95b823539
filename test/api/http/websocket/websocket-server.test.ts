import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it, type TestContext, test } from "node:test";
import pino from "pino";
import { FrameScanner } from "../../../../src/api/http/websocket/message-memory.ts";
import { memoryStore } from "../../../accounts/memory-store.ts";
import fc from "../../../properties.ts";
import { ScriptedRecogniser, segmentOf } from "../../../recognition/scripted-recogniser.ts";
import { until, within } from "../../../waiting.ts";
import { RealtimeClient } from "../../realtime/client.ts";
import { ScriptedDetector } from "../../realtime/scripted-detector.ts";
import { TwilioCall } from "../../realtime/twilio-call.ts";
import { clientFrame, openRaw, type RawSocket, upgradeRequest } from "../raw-socket.ts";
import { startForTest, type TestServer, type TestServerOptions } from "../start.ts";

const start = (t: TestContext, options: TestServerOptions = {}): Promise<TestServer> =>
  startForTest(t, { detector: new ScriptedDetector(), ...options });

const TEXT = 1;
const ROUTE = "/v1/telephony/twilio";

/** A WebSocket that sends only what the test writes, and answers no close. */
async function openStubborn(own: TestServer, path = ROUTE): Promise<RawSocket> {
  const raw = await openRaw(own);
  raw.socket.write(upgradeRequest(path));
  await until("an answer", () => raw.received().includes("\r\n\r\n"));
  return raw;
}

/** The code and reason of the server's close frame. */
async function closing({ received }: RawSocket): Promise<{ readonly code: number; readonly reason: string }> {
  let bytes = Buffer.alloc(0);
  await until("a close frame", () => {
    bytes = Buffer.from(received().slice(received().indexOf("\r\n\r\n") + 4), "latin1");
    return bytes.length >= 2 && bytes.length >= 2 + bytes[1]!;
  });
  assert.equal(bytes[0], 0x88);
  return { code: bytes.readUInt16BE(2), reason: bytes.subarray(4, 2 + bytes[1]!).toString() };
}

const startOf = (key: string) => {
  const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: 8_000, channels: 1 };
  const start = { streamSid: "MZ1", mediaFormat, customParameters: { key } };
  return clientFrame(TEXT, JSON.stringify({ event: "start", start }));
};

describe("A call without a key", () => {
  test("is cut soon after its refusal, whatever it still sends", async (t) => {
    const raw = await openStubborn(await start(t));
    raw.socket.write(startOf("ant_wrong"));
    assert.equal((await closing(raw)).code, 1_008);
    const sending = setInterval(() => raw.socket.write(clientFrame(TEXT, "x".repeat(60_000))), 5);
    // Before the 30 s after which `ws` would cut it.
    await within("the close", raw.over, { deadlineMs: 15_000 }).finally(() => clearInterval(sending));
    raw.socket.destroy();
  });

  test("may send no message over 64 KiB", async (t) => {
    const own = await start(t);
    const header = clientFrame(TEXT, "x".repeat(64 * 1024 + 1)).subarray(0, 14);
    for (const path of [ROUTE, "/v1/telephony/%74wilio"]) {
      const raw = await openStubborn(own, path);
      raw.socket.write(header);
      assert.equal((await closing(raw)).code, 1_009);
      raw.socket.destroy();
    }
    const client = await RealtimeClient.open(own);
    client.send("x".repeat(70_000));
    await client.upTo("error");
    await client.close();
  });

  test("frees its slot among the network's eight at a stop or a refusal", async (t) => {
    const own = await start(t);
    const eight = [];
    for (let count = 0; count < 8; count += 1) eight.push(await openStubborn(own));
    const ninth = await openStubborn(own);
    assert.match(
      ninth.received(),
      /^HTTP\/1\.1 429 [\s\S]*8 streams of this key or network have not started/,
    );
    eight[0]!.socket.write(clientFrame(TEXT, '{"event":"stop"}'));
    assert.equal((await closing(eight[0]!)).code, 1_000);
    eight[1]!.socket.write(startOf("ant_wrong"));
    assert.equal((await closing(eight[1]!)).code, 1_008);
    // Both ignore the close and stay connected.
    const more = [await openStubborn(own), await openStubborn(own)];
    for (const each of more) assert.match(each.received(), /^HTTP\/1\.1 101 /);
    for (const each of [...eight, ...more, ninth]) each.socket.destroy();
  });

  test("is closed with the reason for a missing or unsuitable key", async (t) => {
    const own = await start(t);
    const refused = async (parameters: Record<string, string>) => {
      const call = await TwilioCall.open(own.url);
      call.start(parameters);
      return call.upToClose();
    };
    const reason = "the API key is missing: send it as the stream's parameter key";
    assert.deepEqual(await refused({}), { code: 1_008, reason });
    assert.match((await refused({ key: "ek_0" })).reason, /^the client secret is unknown, has expired,/);
    for (const session of [{ output_modalities: ["text"] }, { type: "transcription" }]) {
      const made = await own.post("/v1/realtime/client_secrets", { session });
      const { value } = (await made.json()) as { readonly value: string };
      const { code, reason } = await refused({ key: value });
      assert.deepEqual([code, /^a call is spoken/.test(reason)], [1_008, true]);
    }
  });
});

test("malformed frames are logged at info without a stack", async (t) => {
  const lines: Record<string, unknown>[] = [];
  const sink = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const own = await start(t, { logger: pino({ level: "info" }, sink) });
  const malformed = [
    clientFrame(3, ""),
    clientFrame(TEXT, Uint8Array.of(0xff, 0xfe)),
    Buffer.from([0x81, 0x01, 0x41]),
    clientFrame(TEXT, "x".repeat(70_000)),
  ];
  for (const bytes of malformed) {
    const raw = await openStubborn(own);
    raw.socket.write(bytes);
    await closing(raw);
    raw.socket.destroy();
  }
  const found = () => lines.filter(({ msg }) => /broke the protocol/.test(`${msg}`));
  await until("their lines", () => found().length === malformed.length);
  for (const line of lines)
    assert.ok((line.level as number) <= 30 && !JSON.stringify(line).includes("    at "));
});

const errorFrom = async (client: RealtimeClient) =>
  (await client.upTo("error")).error as { code: string; message: string; param?: string; event_id?: string };

describe("A large event", () => {
  test("with many values is refused unless it is audio, and the session goes on", async (t) => {
    const server = await start(t);
    const many = (unit: string) => unit.repeat(Math.ceil((1.5 * 2 ** 20) / unit.length));
    for (const text of [`{"type":"input_audio_buffer.clear","x":[${many("{},")}0]}`, many("["), many('"')]) {
      const client = await RealtimeClient.open(server);
      client.send(text);
      const { code, message } = await errorFrom(client);
      assert.deepEqual([code, /^the event is too large/.test(message)], ["invalid_value", true]);
      client.send(`{"type":"input_audio_buffer.append","audio":"AAAA","x":[${many("1,")}1]}`);
      client.send({ type: "input_audio_buffer.clear" });
      await client.upTo("input_audio_buffer.cleared");
      await client.close();
    }
  });

  test("of audio is taken, however its members are ordered and escaped", async (t) => {
    const client = await RealtimeClient.open(await start(t));
    client.send({ type: "session.update", session: { audio: { input: { turn_detection: null } } } });
    const audio = Buffer.alloc(2 ** 20, 255).toString("base64");
    for (const text of [
      JSON.stringify({ audio, type: "input_audio_buffer.append", event_id: "a" }),
      // PHP escapes slashes.
      `{"type":"input_audio_buffer.append","audio":"${audio.replaceAll("/", "\\/")}"}`,
    ]) {
      client.send(text);
      client.send({ type: "input_audio_buffer.commit" });
      await client.upTo("input_audio_buffer.committed");
    }
    await client.close();
  });
});

test("invalid base64 is refused; unpadded, URL-safe and wrapped base64 is taken", async (t) => {
  const client = await RealtimeClient.open(await start(t));
  for (const audio of ["%%%%", "AA==AA==", "AAAA\u00e4"]) {
    client.send({ type: "input_audio_buffer.append", audio, event_id: "mine" });
    const { code, param, event_id } = await errorFrom(client);
    assert.deepEqual([code, param, event_id], ["invalid_value", "audio", "mine"]);
  }
  for (const audio of ["", "AA", "AA==", "-_-_", "+/+/", "AAAA\nAAAA\n"])
    client.send({ type: "input_audio_buffer.append", audio });
  client.send({ type: "conversation.item.retrieve", item_id: "none" });
  assert.equal((await errorFrom(client)).code, "item_retrieve_invalid_item_id");
  await client.close();
});

describe("A client without pongs", () => {
  const flags = { heartbeatMs: "100" };

  test("stays connected while it sends anything", async (t) => {
    const client = await RealtimeClient.open(await start(t, { flags }), { answersPings: false });
    for (let count = 0; count < 8; count += 1) {
      await within("a ping", once(client.socket, "ping"));
      client.send({ type: "input_audio_buffer.clear" });
    }
    await client.upTo("input_audio_buffer.cleared");
    client.socket.terminate();
  });

  test("stays connected while the server pauses reading", async (t) => {
    const recogniser = new ScriptedRecogniser([segmentOf("Yes.", 0)]);
    const own = await start(t, { flags, recogniser });
    const client = await RealtimeClient.open(own);
    recogniser.hold();
    client.send({ type: "session.update", session: { audio: { input: { turn_detection: null } } } });
    // At most two turns wait to be transcribed; then the server stops reading.
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

describe("A connection that closes before its key is found", () => {
  let findKeys = (): void => {};
  let lookups = 0;

  /** A server whose store answers no lookup before `findKeys` is called. */
  async function startHeld(t: TestContext, flags: Record<string, string>): Promise<TestServer> {
    lookups = 0;
    const held = new Promise<void>((resolve) => {
      findKeys = resolve;
    });
    const store = memoryStore();
    const findKey: typeof store.findKey = async (hash) => {
      lookups += 1;
      await held;
      return store.findKey(hash);
    };
    t.after(() => findKeys());
    return startForTest(t, { flags, store: { ...store, findKey } });
  }

  for (const [path, flags] of [
    ["/v1/realtime", { "realtime.sessionsPerKey": "1" }],
    ["/v1/telephony/twilio", { "realtime.sessions": "1" }],
  ] as const) {
    it(`frees its slot at ${path}`, async (t) => {
      const own = await startHeld(t, flags);
      const gone = await openRaw(own);
      const request = upgradeRequest(`${path}?key=${own.key}`, { Authorization: `Bearer ${own.key}` });
      gone.socket.write(request);
      await until("the lookup of its key", () => lookups === 1);
      gone.socket.resetAndDestroy();
      const left = `requests_ended_total{route="${path}",end="left",type="none"}`;
      await own.metricIs(left, 1);
      findKeys();
      const next = await openRaw(own);
      next.socket.write(request);
      await until("an answer", () => next.received().includes("\r\n"));
      assert.match(next.received(), /^HTTP\/1\.1 101 /);
      next.socket.destroy();
      if (path === "/v1/realtime") await own.metricIs("realtime_sessions", 0);
    });
  }

  it("frees the slot of a call", async (t) => {
    const own = await startHeld(t, { "realtime.sessionsPerKey": "1" });
    const gone = await TwilioCall.open(own.url);
    gone.start({ key: own.key });
    await until("the lookup of its key", () => lookups === 1);
    gone.close();
    const ended = 'requests_ended_total{route="/v1/telephony/twilio",end="finished",type="none"}';
    await own.metricIs(ended, 1);
    findKeys();
    const next = await TwilioCall.open(own.url);
    next.start({ key: own.key });
    next.send({ event: "stop" });
    assert.deepEqual(await next.upToClose(), { code: 1_000, reason: "" });
    await own.metricIs("realtime_sessions", 0);
  });
});

interface Frame {
  readonly isControl: boolean;
  readonly isFinal: boolean;
  readonly length: number;
}

const encoded = ({ isControl, isFinal, length }: Frame) =>
  clientFrame(isControl ? 9 : TEXT, new Uint8Array(length), isFinal);

describe("FrameScanner", () => {
  test("counts frames and open messages however the bytes are cut", () => {
    const frame = fc.oneof(
      fc.record({
        isControl: fc.constant(false),
        isFinal: fc.boolean(),
        length: fc.constantFrom(0, 1, 125, 126, 65_535, 65_536, 70_000),
      }),
      fc.record({ isControl: fc.constant(true), isFinal: fc.constant(true), length: fc.nat(125) }),
    );
    const cuts = fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(frame, { minLength: 1, maxLength: 8 }), cuts, (frames, lengths) => {
        const scanner = new FrameScanner();
        let count = 0;
        let open = 0;
        for (const each of frames) {
          const bytes = encoded(each);
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const to = at + lengths[turn % lengths.length]!;
            count += scanner.push(bytes.subarray(at, to));
            at = to;
            if (at < bytes.length) assert.ok(scanner.isInside);
          }
          if (!each.isControl) open = each.isFinal ? 0 : open + each.length;
          const isOpen = frames.slice(0, frames.indexOf(each) + 1).findLast(({ isControl }) => !isControl);
          assert.equal(scanner.isInside, isOpen !== undefined && !isOpen.isFinal);
          assert.equal(scanner.messageBytes, open);
        }
        assert.equal(count, frames.length);
      }),
    );
  });

  test("knows a message's size from its first frame", () => {
    const scanner = new FrameScanner();
    scanner.push(encoded({ isControl: false, isFinal: true, length: 70_000 }).subarray(0, 20));
    assert.equal(scanner.messageBytes, 70_000);
  });
});
