import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, describe, type TestContext, test } from "node:test";
import pino from "pino";
import { ScriptedRecogniser, segmentOf } from "../../../recognition/scripted-recogniser.ts";
import { until, within } from "../../../waiting.ts";
import { ScriptedWriter } from "../../../writers/scripted-writer.ts";
import { ScriptedDetector } from "../../realtime/scripted-detector.ts";
import { type StreamOptions, spokenSentence, TwilioCall } from "../../realtime/twilio-call.ts";
import { startForTest, startTestServer, type TestServer, type TestServerOptions } from "../start.ts";

const REPLY = "Alpha bravo charlie delta echo foxtrot golf hotel.";
const PATH = "/v1/telephony/twilio";

const press = (call: TwilioCall, digits: string) => {
  for (const digit of digits) call.send({ event: "dtmf", dtmf: { track: "inbound_track", digit } });
};
async function clientSecret({ post }: TestServer, session: object = {}): Promise<string> {
  return (await (await post("/v1/realtime/client_secrets", { session })).json()).value;
}

describe("A Twilio stream", () => {
  let server: TestServer;
  let writer: ScriptedWriter;
  let recogniser: ScriptedRecogniser;
  let sentence: Uint8Array;

  before(async () => {
    sentence = await spokenSentence();
    writer = new ScriptedWriter([REPLY], { readsInstructions: true });
    recogniser = new ScriptedRecogniser([segmentOf("How are you today?", 0)]);
    const flags = { "realtime.sessionsPerKey": "2" };
    server = await startTestServer({ flags, writer, recogniser });
  });
  after(() => server.stop());

  async function call(parameters: Record<string, string> = {}): Promise<TwilioCall> {
    const { key } = await server.another();
    const opened = await TwilioCall.open(server.url);
    opened.start({ key, ...parameters });
    return opened;
  }

  const speak = (caller: TwilioCall) => {
    caller.speak(sentence);
    caller.beSilent(5);
  };
  const lastText = () => writer.dialogues.at(-1)!.history.at(-1)!.text;

  test("transcribes, answers and is interrupted; the history ends at the last mark played", async () => {
    const caller = await call({ instructions: "Be short.", language: "en" });
    speak(caller);
    await caller.upTo("mark", 20);
    const media = caller.received.find(({ event }) => event === "media")!;
    assert.equal(media.streamSid, "MZ0123456789abcdef0123456789abcdef");
    const bytes = Buffer.from(media.media!.payload, "base64").length;
    assert.ok(bytes > 600 && bytes <= 640, `${bytes} bytes`);
    const first = writer.dialogues.at(-1)!;
    assert.deepEqual(
      first.history.map(({ text }) => text),
      ["How are you today?"],
    );
    assert.equal(first.instructions, "Be short.");
    assert.equal(recogniser.asked.at(-1)!.language, "en");

    caller.returnMarks(7);
    caller.speak(sentence);
    await caller.upTo("clear");
    // Twilio also returns the marks of audio that it discards.
    caller.returnMarks(Number.POSITIVE_INFINITY);
    caller.beSilent(5);
    await until("the second reply", () => writer.dialogues.at(-1)!.history[1]?.text === "Alpha");
    caller.send({ event: "stop", stop: { accountSid: "AC1", callSid: "CA1" } });
    assert.equal((await caller.upToClose()).code, 1_000);
  });

  test("takes pressed keys as a turn", async () => {
    const caller = await call();
    press(caller, "42#");
    await caller.upTo("mark");
    assert.equal(lastText(), "I pressed 4 2 # on the keypad.");
    caller.close();
  });

  test("answers keys after a reply that began since the first of them", async () => {
    const caller = await call();
    press(caller, "4");
    speak(caller);
    await caller.upTo("mark");
    press(caller, "#");
    // On a slow machine the two seconds after the first key may be over.
    await until("the answer to the keys", () => /^I pressed (4 )?# on the keypad\.$/.test(`${lastText()}`));
    caller.close();
  });

  test("takes a client secret, and keeps audio from before the key is known", async () => {
    const before = writer.dialogues.length;
    const caller = await call({ key: await clientSecret(server) });
    speak(caller);
    await caller.upTo("mark");
    assert.equal(writer.dialogues.length, before + 1);
    caller.close();
  });

  test("is closed with the reason when it is refused", async () => {
    const refused = async (parameters: Record<string, string>, format: object = {}) => {
      const opened = await TwilioCall.open(server.url);
      opened.start(parameters, format);
      return opened.upToClose();
    };
    const { key } = server;
    const withTools = await clientSecret(server, { tools: [{ type: "function", name: "clock" }] });
    for (const [parameters, reason, format] of [
      [{}, /the API key is missing/],
      [{ key: "ant_unknown" }, /./],
      [{ key: "ek_unknown" }, /./],
      [{ key, model: "nothing" }, /model "nothing" is unknown/],
      [{ key, voice: "unknown" }, /voice/],
      [
        { key, language: "multi" },
        /^language "multi" is unknown: send its ISO 639-1 code, such as "en", or leave/,
      ],
      [{ key, language: "auto" }, /^language "auto" is unknown/],
      [{ key, language: "xx" }, /^language "xx" is unknown/],
      [{ key }, /audio\/x-mulaw, 8000 Hz/, { sampleRate: 16_000 }],
      [{ key, voice: "x".repeat(300) }, /^customParameters.voice must NOT have more than 200 characters$/],
      [{ key: withTools }, /create the client secret without tools/],
    ] as readonly [Record<string, string>, RegExp, object?][]) {
      const closed = await refused(parameters, format);
      assert.equal(closed.code, 1_008);
      assert.match(closed.reason, reason);
    }
    const formless = await TwilioCall.open(server.url);
    formless.send({ event: "start", start: { streamSid: "MZ1", customParameters: { key } } });
    assert.equal((await formless.upToClose()).code, 1_008);
  });

  test("is limited per key like realtime sessions", async () => {
    const { key } = await server.another();
    const calls = [await call({ key }), await call({ key })];
    for (const each of calls) {
      speak(each);
      await each.upTo("mark");
    }
    const third = await call({ key });
    const { code, reason } = await third.upToClose();
    assert.deepEqual([code, /2 realtime sessions open/.test(reason)], [1_013, true]);
    for (const each of calls) each.close();
  });

  test("is closed with 1007 for a malformed message", async () => {
    const payload = '{"event":"media","media":{"payload":"%%%%"}}';
    for (const odd of ["{", "[]", '{"event":"media","media":{}}', payload, '{"event":"start","start":{}}'])
      for (const stream of [await TwilioCall.open(server.url), await call()]) {
        stream.send(odd);
        assert.equal((await stream.upToClose()).code, 1_007, odd);
      }
  });

  test("returns 426 without an upgrade", async () => {
    assert.equal((await server.get(PATH)).status, 426);
  });
});

const open: TwilioCall[] = [];
let server: TestServer;

async function start(t: TestContext, options: TestServerOptions = {}): Promise<TestServer> {
  t.after(() => {
    for (const each of open.splice(0)) each.close();
  });
  server = await startForTest(t, {
    detector: new ScriptedDetector(),
    writer: new ScriptedWriter(["Good morning."]),
    recogniser: new ScriptedRecogniser([segmentOf("Yes.", 0)]),
    ...options,
  });
  return server;
}

async function call(options: StreamOptions = {}): Promise<TwilioCall> {
  const opened = await TwilioCall.open(server.url, options);
  open.push(opened);
  return opened;
}

/** Starts a call, presses keys, and waits for the spoken answer. */
async function isAnswered(caller: TwilioCall, parameters: Record<string, string>): Promise<void> {
  caller.start(parameters);
  press(caller, "4#");
  await caller.upTo("mark");
}

const from = (address: string): StreamOptions => ({ headers: { "X-Forwarded-For": address } });

/** Opens a stream from an address. Returns the status. */
async function attempt(address: string): Promise<number> {
  const socket = TwilioCall.connect(server.url, from(address));
  socket.on("error", () => {});
  const status = new Promise<number>((resolve) => {
    socket.once("open", () => resolve(101));
    socket.once("unexpected-response", (_request, response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
  });
  return within("an answer", status);
}

describe("Streams without a proven key", () => {
  test("from forty networks do not block a caller from another network", async (t) => {
    const own = await start(t, { flags: { trustProxy: "true" } });
    const networks = Array.from({ length: 40 }, (_, n) => `203.0.${n}.1`);
    const answers = [];
    for (const network of networks)
      for (let count = 0; count < 8; count += 1) answers.push(await attempt(network));
    assert.ok(answers.includes(502), "they hold all that they can");
    const caller = await call(from("198.51.100.1"));
    for (const network of networks) await attempt(network);
    await isAnswered(caller, { key: own.key });
  });

  test("are limited to eight in each IPv4 /24 and IPv6 /48", async (t) => {
    const own = await start(t, { flags: { trustProxy: "true" } });
    for (const [address, same, other] of [
      [(n: number) => `203.0.113.${n}`, "203.0.113.99", "203.0.114.1"],
      [(n: number) => `2001:db8:1:${n}::1`, "2001:db8:1:99::1", "2001:db8:2::1"],
    ] as const) {
      for (let n = 1; n <= 8; n += 1) assert.equal(await attempt(address(n)), 101);
      const { status, error } = await TwilioCall.refused(own.url, from(same));
      assert.equal(status, 429);
      assert.match(error.message, /^8 streams of this key or network have not started/);
      assert.equal(await attempt(other), 101);
    }
  });

  test("are closed sooner than those with a valid key in their URL", async (t) => {
    const own = await start(t);
    const proven = await call({ query: `?key=${own.key}` });
    const unproven = await call();
    assert.deepEqual(await unproven.upToClose(), { code: 1_008, reason: "the stream did not start" });
    assert.equal(proven.closed, null);
    await isAnswered(proven, {});
  });

  test("use no slot of those with a valid key", async (t) => {
    const own = await start(t);
    for (let count = 0; count < 8; count += 1) await call();
    assert.equal((await TwilioCall.refused(own.url)).status, 429);
    await isAnswered(await call({ query: `?key=${own.key}` }), {});
  });
});

describe("A key in the URL of a stream", () => {
  test("pays, as a client secret does, unless a parameter names another", async (t) => {
    const own = await start(t);
    await isAnswered(await call({ query: `?key=${await clientSecret(own)}` }), {});
    const other = await own.another();
    await isAnswered(await call({ query: `?key=${own.key}` }), { key: other.key });
    assert.equal((await own.tenancy.usage(other.keyId)).requests, 1);
    const wrong = await call({ query: `?key=${own.key}` });
    wrong.start({ key: "ant_nobody" });
    assert.equal((await wrong.upToClose()).code, 1_008);
  });

  test("is refused before the upgrade and counted when it is wrong", async (t) => {
    const own = await start(t, { flags: { anonymousBurst: "4", anonymousRpm: "1" } });
    for (const query of ["?key=ant_nobody", "?key=", `?key=${own.key}&key=${own.key}`, "?key=ek_0"]) {
      const { status, error } = await TwilioCall.refused(own.url, { query });
      assert.deepEqual([status, error.type], [401, "authentication_error"], query);
    }
    const { status, headers } = await TwilioCall.refused(own.url, { query: "?key=ant_nobody" });
    assert.deepEqual([status, headers["x-ratelimit-remaining"]], [429, "0"]);
    await isAnswered(await call({ query: `?key=${own.key}` }), {});
  });

  test("waits for its start in at most eight slots, which yield to other keys", async (t) => {
    const own = await start(t, { flags: { "realtime.sessions": "8" } });
    const query = `?key=${own.key}`;
    const eight = [];
    for (let count = 0; count < 8; count += 1) eight.push(await call({ query }));
    assert.equal((await TwilioCall.refused(own.url, { query })).status, 429);
    const other = await own.another();
    const caller = await call({ query: `?key=${other.key}` });
    assert.equal((await eight[0]!.upToClose()).code, 1_013);
    await isAnswered(caller, {});
  });

  test("appears in no log line and no metric", async (t) => {
    const lines: string[] = [];
    const logger = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
    const own = await start(t, { logger, twilioAuthTokens: ["token"] });
    const host = new URL(own.url).host;
    const good = `?key=${own.key}`;
    const wrong = "?key=ant_0123456789012345678901234567890123456789";
    const signed = (query: string) => signedBy("token", `wss://${host}/v1/telephony/twilio${query}`);
    await isAnswered(await call({ query: good, headers: signed(good) }), {});
    const formless = await call({ query: good, headers: signed(good) });
    formless.send("{");
    await formless.upToClose();
    const broken = await call({ query: good, headers: signed(good) });
    broken.send("x".repeat(70_000));
    await broken.upToClose();
    const refusals = [];
    for (const query of [good, wrong]) {
      refusals.push(await TwilioCall.refused(own.url, { query }));
      refusals.push(await TwilioCall.refused(own.url, { query: `/nowhere${query}` }));
    }
    refusals.push(await TwilioCall.refused(own.url, { query: wrong, headers: signed(wrong) }));
    for (const path of ["/v1/telephony/twilio", "/v1/info", "/v1/%zz", "/nowhere"])
      await (await own.get(`${path}${good}`)).text();
    const metrics = await (await own.get("/metrics")).text();
    const log = lines.join("");
    assert.match(log, /"route":"\/v1\/telephony\/twilio","status":101/);
    for (const text of [log, metrics, JSON.stringify(refusals)])
      for (const key of [own.key, wrong.slice(5)]) assert.ok(!text.includes(key.slice(4, 20)));
  });
});

function signedBy(token: string, url: string): Record<string, string> {
  return { "X-Twilio-Signature": createHmac("sha1", token).update(url).digest("base64") };
}

describe("With Twilio's auth token, a stream", () => {
  const unsignedError = /^X-Twilio-Signature is missing or not that of "wss:\/\/127[^"?]*\/twilio": use/;
  test("needs the signature of its URL, then a key", async (t) => {
    const own = await start(t, { twilioAuthTokens: ["former", "present"] });
    const { host } = new URL(own.url);
    for (const token of ["former", "present"]) {
      const caller = await call({ headers: signedBy(token, `wss://${host}${PATH}`) });
      await isAnswered(caller, { key: own.key });
    }
    const query = `?a=b%20c&key=${own.key}`;
    await isAnswered(await call({ query, headers: signedBy("present", `wss://${host}${PATH}${query}`) }), {});
    const keyless = await call({ headers: signedBy("present", `wss://${host}${PATH}`) });
    keyless.start({});
    assert.match((await keyless.upToClose()).reason, /the API key is missing/);
  });

  test("is refused without a signature before the upgrade, and counted", async (t) => {
    const flags = { anonymousBurst: "7", anonymousRpm: "1" };
    const own = await start(t, { twilioAuthTokens: ["token"], flags });
    const { host } = new URL(own.url);
    const good = signedBy("token", `wss://${host}${PATH}`);
    const query = `?key=${own.key}`;
    for (const options of [
      {},
      { query },
      { query, headers: good },
      { headers: { "X-Twilio-Signature": "" } },
      { headers: { "X-Twilio-Signature": `${good["X-Twilio-Signature"]}=` } },
      { headers: signedBy("", `wss://${host}${PATH}`) },
      { headers: { ...signedBy("token", `wss://public${PATH}`), "X-Forwarded-Host": "public" } },
    ]) {
      const { status, error } = await TwilioCall.refused(own.url, options);
      assert.deepEqual([status, error.type], [401, "authentication_error"]);
      assert.match(error.message, unsignedError);
    }
    assert.equal((await TwilioCall.refused(own.url)).status, 429);
    await isAnswered(await call({ headers: good }), { key: own.key });
  });

  test("may be signed with or without its port and final slash, or for a proxy's host", async (t) => {
    const own = await start(t, { twilioAuthTokens: ["token"], flags: { trustProxy: "true" } });
    const forwarded = { "X-Forwarded-Host": "speech.example", "X-Forwarded-Proto": "http" };
    for (const url of [
      `wss://127.0.0.1${PATH}`,
      `wss://127.0.0.1${PATH}/`,
      `wss://speech.example${PATH}`,
      `wss://speech.example:443${PATH}`,
      `wss://speech.example:443${PATH}/`,
    ]) {
      const headers = { ...signedBy("token", url), ...(url.includes("speech") ? forwarded : {}) };
      await isAnswered(await call({ headers }), { key: own.key });
    }
    const query = "?a=/";
    const headers = signedBy("token", `wss://127.0.0.1${PATH}/${query}`);
    await isAnswered(await call({ query, headers }), { key: own.key });
  });
});
