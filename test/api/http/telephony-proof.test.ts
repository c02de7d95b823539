import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { afterEach, describe, test } from "node:test";
import pino from "pino";
import { ScriptedRecogniser, segmentOf } from "../../recognition/scripted-recogniser.ts";
import { within } from "../../waiting.ts";
import { ScriptedWriter } from "../../writers/scripted-writer.ts";
import { ScriptedDetector } from "../realtime/scripted-detector.ts";
import { type StreamOptions, TwilioCall } from "../realtime/twilio-call.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "./start.ts";

let server: TestServer | null = null;
const open: TwilioCall[] = [];

async function start(options: TestServerOptions = {}): Promise<TestServer> {
  server = await startTestServer({
    detector: new ScriptedDetector(),
    writer: new ScriptedWriter(["Good morning."]),
    recogniser: new ScriptedRecogniser([segmentOf("Yes.", 0)]),
    ...options,
  });
  return server;
}

afterEach(async () => {
  for (const each of open.splice(0)) each.close();
  await server?.stop();
  server = null;
});

async function call(options: StreamOptions = {}): Promise<TwilioCall> {
  const opened = await TwilioCall.open(server!.url, options);
  open.push(opened);
  return opened;
}

/** Starts a call, presses a key, and waits until the answer is spoken. */
async function isAnswered(caller: TwilioCall, parameters: Record<string, string>): Promise<void> {
  caller.start(parameters);
  for (const digit of "4#") caller.send({ event: "dtmf", dtmf: { track: "inbound_track", digit } });
  await caller.upTo("mark");
}

const from = (address: string): StreamOptions => ({ headers: { "X-Forwarded-For": address } });

/** Opens a stream from an address, unless the server refuses it. */
async function attempt(address: string): Promise<number> {
  const socket = TwilioCall.connect(server!.url, from(address));
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

describe("streams that have proven nothing", () => {
  test("of forty networks do not keep a caller from another network out", async () => {
    const own = await start({ flags: { trustProxy: "true" } });
    const networks = Array.from({ length: 40 }, (_, n) => `203.0.${n}.1`);
    const answers = [];
    for (const network of networks)
      for (let count = 0; count < 8; count += 1) answers.push(await attempt(network));
    assert.ok(answers.includes(502), "they hold all that they can");
    const caller = await call(from("198.51.100.1"));
    for (const network of networks) await attempt(network);
    await isAnswered(caller, { key: own.key });
  });

  test("have eight places in each IPv4 /24 and IPv6 /48, and are told so beyond", async () => {
    const own = await start({ flags: { trustProxy: "true" } });
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

  test("are closed sooner than those that have a good key in their URL", async () => {
    const own = await start();
    const proven = await call({ query: `?key=${own.key}` });
    const unproven = await call();
    assert.deepEqual(await unproven.upToClose(), { code: 1_008, reason: "the stream did not start" });
    assert.equal(proven.closed, null);
    await isAnswered(proven, {});
  });

  test("take no places from those that have", async () => {
    const own = await start();
    for (let count = 0; count < 8; count += 1) await call();
    assert.equal((await TwilioCall.refused(own.url)).status, 429);
    await isAnswered(await call({ query: `?key=${own.key}` }), {});
  });
});

describe("a key in the URL of a stream", () => {
  test("pays, as a client secret does, unless a parameter names another", async () => {
    const own = await start();
    const made = await own.post("/v1/realtime/client_secrets", {});
    const { value } = (await made.json()) as { readonly value: string };
    await isAnswered(await call({ query: `?key=${value}` }), {});
    const other = await own.another();
    await isAnswered(await call({ query: `?key=${own.key}` }), { key: other.key });
    assert.equal((await own.tenancy.usage(other.keyId)).requests, 1);
    const wrong = await call({ query: `?key=${own.key}` });
    wrong.start({ key: "ant_nobody" });
    assert.equal((await wrong.upToClose()).code, 1_008);
  });

  test("that is not good is refused before the upgrade, and counted", async () => {
    const own = await start({ flags: { anonymousBurst: "4", anonymousRpm: "1" } });
    for (const query of ["?key=ant_nobody", "?key=", `?key=${own.key}&key=${own.key}`, "?key=ek_0"]) {
      const { status, error } = await TwilioCall.refused(own.url, { query });
      assert.deepEqual([status, error.type], [401, "authentication_error"], query);
    }
    const { status, headers } = await TwilioCall.refused(own.url, { query: "?key=ant_nobody" });
    assert.deepEqual([status, headers["x-ratelimit-remaining"]], [429, "0"]);
    await isAnswered(await call({ query: `?key=${own.key}` }), {});
  });

  test("waits for its start at eight places, which give way to other keys", async () => {
    const own = await start({ flags: { "realtime.sessions": "8" } });
    const query = `?key=${own.key}`;
    const eight = [];
    for (let count = 0; count < 8; count += 1) eight.push(await call({ query }));
    assert.equal((await TwilioCall.refused(own.url, { query })).status, 429);
    const other = await own.another();
    const caller = await call({ query: `?key=${other.key}` });
    assert.equal((await eight[0]!.upToClose()).code, 1_013);
    await isAnswered(caller, {});
  });

  test("is in no line of the log and in no metric", async () => {
    const lines: string[] = [];
    const logger = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
    const own = await start({ logger, twilioAuthTokens: ["token"] });
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

describe("where Twilio's auth token is known, a stream", () => {
  const PATH = "/v1/telephony/twilio";

  test("needs the signature of its URL, and then a key", async () => {
    const own = await start({ twilioAuthTokens: ["former", "present"] });
    const { host } = new URL(own.url);
    for (const token of ["former", "present"]) {
      const caller = await call({ headers: signedBy(token, `wss://${host}${PATH}`) });
      await isAnswered(caller, { key: own.key });
    }
    const query = `?a=b%20c&key=${own.key}`;
    await isAnswered(await call({ query, headers: signedBy("present", `wss://${host}${PATH}${query}`) }), {});
    const nobody = await call({ headers: signedBy("present", `wss://${host}${PATH}`) });
    nobody.start({});
    assert.match((await nobody.upToClose()).reason, /the API key is missing/);
  });

  test("is refused without it before the upgrade, whatever its key, and counted", async () => {
    const flags = { anonymousBurst: "7", anonymousRpm: "1" };
    const own = await start({ twilioAuthTokens: ["token"], flags });
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
      assert.match(
        error.message,
        /^X-Twilio-Signature is missing or not that of "wss:\/\/127[^"?]*\/twilio": use/,
      );
    }
    assert.equal((await TwilioCall.refused(own.url)).status, 429);
    await isAnswered(await call({ headers: good }), { key: own.key });
  });

  test("may be signed with its port or without, with a slash at its end, and for a trusted proxy's host", async () => {
    const own = await start({ twilioAuthTokens: ["token"], flags: { trustProxy: "true" } });
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

  test("says what it is without an upgrade", async () => {
    const own = await start({ twilioAuthTokens: ["token"] });
    assert.equal((await own.get(PATH)).status, 426);
  });
});
