import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ScriptedRecogniser, segmentOf } from "../../../recognition/scripted-recogniser.ts";
import { until, within } from "../../../waiting.ts";
import { ScriptedWriter } from "../../../writers/scripted-writer.ts";
import { spokenSentence, TwilioCall } from "../../realtime/twilio-call.ts";
import { startTestServer, type TestServer } from "../start.ts";

const REPLY = "Alpha bravo charlie delta echo foxtrot golf hotel.";

let server: TestServer;
let writer: ScriptedWriter;
let recogniser: ScriptedRecogniser;
let sentence: Uint8Array;

before(async () => {
  sentence = await spokenSentence();
  writer = new ScriptedWriter([REPLY], { readsInstructions: true });
  recogniser = new ScriptedRecogniser([segmentOf("How are you today?", 0)]);
  server = await startTestServer({
    flags: { "realtime.sessionsPerKey": "2" },
    writer,
    recogniser,
  });
});
after(() => server.stop());

async function call(parameters: Record<string, string> = {}): Promise<TwilioCall> {
  const { key } = await server.another();
  const opened = await TwilioCall.open(server.url);
  opened.start({ key, ...parameters });
  return opened;
}

test("a caller is heard, answered, and interrupts; the writer sees what the marks say was heard", async () => {
  const caller = await call({ instructions: "Be short.", language: "en" });
  caller.speak(sentence);
  caller.beSilent(5);
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
  // As Twilio returns the marks of what it throws away.
  caller.returnMarks(Number.POSITIVE_INFINITY);
  caller.beSilent(5);
  await until("the second reply", () => writer.dialogues.at(-1) !== first);
  const heard = writer.dialogues.at(-1)!.history[1]!.text;
  assert.equal(heard, "Alpha");
  caller.send({ event: "stop", stop: { accountSid: "AC1", callSid: "CA1" } });
  assert.equal((await caller.upToClose()).code, 1_000);
});

test("keys that are pressed are a turn of their own", async () => {
  const caller = await call();
  for (const digit of "42#") caller.send({ event: "dtmf", dtmf: { track: "inbound_track", digit } });
  await caller.upTo("mark");
  assert.equal(writer.dialogues.at(-1)!.history.at(-1)!.text, "I pressed 4 2 # on the keypad.");
  caller.close();
});

test("keys are answered, too, if a reply has begun since the first of them", async () => {
  const caller = await call();
  const press = (digit: string) => caller.send({ event: "dtmf", dtmf: { track: "inbound_track", digit } });
  press("4");
  caller.speak(sentence);
  caller.beSilent(5);
  await caller.upTo("mark");
  press("#");
  const last = () => writer.dialogues.at(-1)!.history.at(-1)!.text ?? "";
  // On a slow machine the two seconds after the first key may be over.
  await until("the answer to the keys", () => /^I pressed (4 )?# on the keypad\.$/.test(last()));
  caller.close();
});

test("a client secret opens a call, and what is said before the key is known is not lost", async () => {
  const made = await server.post("/v1/realtime/client_secrets", {});
  const { value } = (await made.json()) as { readonly value: string };
  const before = writer.dialogues.length;
  const caller = await call({ key: value });
  caller.speak(sentence);
  caller.beSilent(5);
  await caller.upTo("mark");
  assert.equal(writer.dialogues.length, before + 1);
  caller.close();
});

test("a call is closed with the reason where it cannot be had", async () => {
  const refused = async (parameters: Record<string, string>, format: object = {}) => {
    const opened = await TwilioCall.open(server.url);
    opened.start(parameters, format);
    return opened.upToClose();
  };
  const none = await refused({});
  assert.equal(none.code, 1_008);
  assert.match(none.reason, /the API key is missing/);
  assert.equal((await refused({ key: "ant_nobody" })).code, 1_008);
  assert.equal((await refused({ key: "ek_nothing" })).code, 1_008);
  assert.match((await refused({ key: server.key, model: "nothing" })).reason, /model "nothing" is unknown/);
  assert.match((await refused({ key: server.key, voice: "nobody" })).reason, /voice/);
  const wide = await refused({ key: server.key }, { sampleRate: 16_000 });
  assert.match(wide.reason, /audio\/x-mulaw, 8000 Hz/);
  assert.equal(wide.code, 1_008);
  const long = await refused({ key: server.key, voice: "x".repeat(300) });
  assert.deepEqual(long, {
    code: 1_008,
    reason: "customParameters.voice must NOT have more than 200 characters",
  });
  const formless = await TwilioCall.open(server.url);
  formless.send({ event: "start", start: { streamSid: "MZ1", customParameters: { key: server.key } } });
  assert.equal((await formless.upToClose()).code, 1_008);
  const tools = [{ type: "function", name: "clock" }];
  const made = await server.post("/v1/realtime/client_secrets", { session: { type: "realtime", tools } });
  const { value } = (await made.json()) as { readonly value: string };
  const calling = await refused({ key: value });
  assert.equal(calling.code, 1_008);
  assert.match(calling.reason, /make the client secret without tools/);
});

test("a key has as many calls as it may have sessions", async () => {
  const { key } = await server.another();
  const calls = [await call({ key }), await call({ key })];
  for (const each of calls) {
    each.speak(sentence);
    each.beSilent(5);
    await each.upTo("mark");
  }
  const third = await call({ key });
  const { code, reason } = await third.upToClose();
  assert.deepEqual([code, /2 realtime sessions open/.test(reason)], [1_013, true]);
  for (const each of calls) each.close();
});

test("messages that are none end the call, before its start and after", async () => {
  for (const odd of [
    "{",
    "[]",
    '{"event":"media","media":{}}',
    '{"event":"media","media":{"payload":"%%%%"}}',
    '{"event":"start","start":{}}',
  ]) {
    const early = await TwilioCall.open(server.url);
    early.send(odd);
    assert.equal((await within("the end", early.upToClose())).code, 1_007, odd.slice(0, 40));
    const late = await call();
    late.send(odd);
    assert.equal((await within("the end", late.upToClose())).code, 1_007, odd.slice(0, 40));
  }
});

test("without an upgrade the route says what it is", async () => {
  const reply = await server.get("/v1/telephony/twilio");
  assert.equal(reply.status, 426);
});
