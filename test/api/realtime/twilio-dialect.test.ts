import assert from "node:assert/strict";
import { test } from "node:test";
import type { DialectOutput } from "../../../src/api/realtime/realtime-dialect.ts";
import { TwilioDialect } from "../../../src/api/realtime/twilio-dialect.ts";

const SILENCE = 0xff;

function parsed({ messages, events }: DialectOutput) {
  return {
    messages: messages.map((text) => JSON.parse(text)),
    events: events.map((event) => JSON.parse(JSON.stringify(event))),
  };
}

/** A dialect whose clock a test sets. */
function dialect() {
  const twilio = new TwilioDialect("MZ1", 0);
  const read = (message: object, nowMs = 0) => {
    const taken = twilio.read(Buffer.from(JSON.stringify(message)), nowMs);
    assert.ok(taken !== null);
    return parsed(taken);
  };
  return {
    read,
    media: (timestamp: number, nowMs: number, bytes = 160) =>
      read(
        { event: "media", media: { track: "inbound", timestamp: `${timestamp}`, payload: base64(bytes) } },
        nowMs,
      ),
    mark: (name: string) => read({ event: "mark", mark: { name } }),
    key: (digit: string, nowMs = 0) => read({ event: "dtmf", dtmf: { digit } }, nowMs),
    write: (event: { readonly type: string } & Record<string, unknown>) => parsed(twilio.write(event)),
  };
}

function base64(bytes: number, value = 0): string {
  return Buffer.alloc(bytes, value).toString("base64");
}

function lengthOf(events: readonly { readonly audio?: string }[]): number {
  return Buffer.from(events[0]!.audio!, "base64").length;
}

const delta = (item_id: string, bytes: number) => ({
  type: "response.output_audio.delta",
  item_id,
  delta: base64(bytes),
});

const typesOf = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);
const NOTHING = { messages: [], events: [] };
const CANCELLED = { type: "response.done", response: { status: "cancelled" } };
const STARTED = { type: "input_audio_buffer.speech_started" };
const CLEAR = [{ event: "clear", streamSid: "MZ1" }];

test("audio is appended as it comes, and gaps in the timestamps become silence", () => {
  const { media } = dialect();
  assert.deepEqual(media(40, 0).events, [{ type: "input_audio_buffer.append", audio: base64(160) }]);
  assert.equal(lengthOf(media(60, 20).events), 160);
  const { events } = media(180, 140);
  const sound = Buffer.from(events[0].audio, "base64");
  assert.equal(sound.length, 160 + 8 * 100);
  assert.ok(sound.subarray(0, 800).every((byte) => byte === SILENCE));
  assert.ok(sound.subarray(800).every((byte) => byte === 0));
  assert.equal(lengthOf(media(209, 169).events), 160, "a jitter is no gap");
  assert.equal(lengthOf(media(100, 200).events), 160, "what comes late is not dropped");
});

test("an impossible timestamp is ignored, and the next ones are used", () => {
  for (const odd of [999_999_999, -45_000, 30_000]) {
    const { media } = dialect();
    assert.equal(lengthOf(media(50_000, 20).events), 160);
    assert.equal(lengthOf(media(50_000 + odd, 40).events), 160, `${odd}`);
    assert.equal(lengthOf(media(50_040, 60).events), 160);
    assert.equal(lengthOf(media(50_060, 80).events), 160);
    assert.equal(lengthOf(media(55_060, 5_080).events), 160 + 8 * 4_980);
  }
});

test("timestamps continue from a clock that was set", () => {
  const { media } = dialect();
  media(0, 20);
  media(999_999_980, 40);
  media(1_000_000_000, 60);
  assert.equal(lengthOf(media(1_000_005_000, 5_060).events), 160 + 8 * 4_980);
});

test("no more silence is inserted than time has passed", () => {
  const { media } = dialect();
  let bytes = 0;
  for (let count = 0; count < 100; count++) bytes += lengthOf(media(count * 60, 10 * count).events);
  assert.ok(bytes <= 8 * (990 + 1_000) + 100 * 160, `${bytes} bytes`);
  assert.ok(bytes > 100 * 160);
});

test("outbound audio is ignored", () => {
  const { read } = dialect();
  assert.deepEqual(read({ event: "media", media: { track: "outbound", payload: base64(160) } }).events, []);
});

test("a response is sent in 80 ms chunks, each followed by a mark", () => {
  const { write } = dialect();
  const { messages, events } = write(delta("item_a", 1_600));
  assert.deepEqual(events, []);
  assert.deepEqual(
    messages.map(
      ({ event, mark, media }) => mark?.name ?? `${event} ${Buffer.from(media.payload, "base64").length}`,
    ),
    ["media 640", "item_a/80", "media 640", "item_a/160", "media 320", "item_a/200"],
  );
  assert.ok(messages.every(({ streamSid }) => streamSid === "MZ1"));
});

test("an interruption clears playback and truncates at the furthest mark", () => {
  const { write, mark } = dialect();
  write(delta("item_a", 6_400));
  for (const ms of [80, 240, 160]) mark(`item_a/${ms}`);
  const { messages, events } = write(STARTED);
  assert.deepEqual(messages, CLEAR);
  const cut = { type: "conversation.item.truncate", item_id: "item_a", content_index: 0 };
  assert.deepEqual(events, [{ ...cut, audio_end_ms: 240 }]);
  mark("item_a/800");
  assert.deepEqual(write(CANCELLED), NOTHING);
});

test("a response played to its end is not cleared, and queued ones are truncated together", () => {
  const { write, mark } = dialect();
  write(delta("item_a", 1_280));
  write({ type: "response.output_audio.done", item_id: "item_a" });
  mark("item_a/160");
  assert.deepEqual(write(STARTED).messages, []);
  write(delta("item_b", 1_280));
  write({ type: "response.output_audio.done", item_id: "item_b" });
  write(delta("item_c", 1_280));
  mark("item_b/80");
  const { events } = write(CANCELLED);
  const cuts = events.map(({ item_id, audio_end_ms }) => `${item_id} at ${audio_end_ms}`);
  assert.deepEqual(cuts, ["item_b at 80", "item_c at 0"]);
});

test("a forged mark truncates no later than what was sent", () => {
  const { write, mark } = dialect();
  write(delta("item_a", 640));
  for (const name of ["item_a/999999", "item_b/80", "/", "item_a/-1", "item_a/1e9"]) mark(name);
  assert.equal(write(STARTED).events[0].audio_end_ms, 80);
});

const SILENCED = ["conversation.item.truncate", "response.cancel"];

test("keys end with a hash or after 2 s, and silence a response", () => {
  const { key, write, media } = dialect();
  write(delta("item_a", 640));
  const first = key("1", 100);
  assert.deepEqual(first.messages, CLEAR);
  assert.deepEqual(typesOf(first.events), SILENCED);
  assert.equal(media(0, 2_000).events.length, 1);
  const [, item, cancel, response] = media(20, 2_100).events;
  assert.equal(item.item.content[0].text, "I pressed 1 on the keypad.");
  assert.deepEqual([cancel.type, response.type], ["response.cancel", "response.create"]);
  const types = typesOf(key("#", 9_000).events);
  assert.deepEqual(types, ["conversation.item.create", "response.cancel", "response.create"]);
});

test("audio of a response that a key silenced is dropped until it is cancelled", () => {
  const { key, write, mark } = dialect();
  write(delta("item_a", 6_400));
  mark("item_a/400");
  const [cut] = key("4").events;
  assert.deepEqual([cut.item_id, cut.audio_end_ms], ["item_a", 400]);
  assert.deepEqual(write(delta("item_a", 640)), NOTHING);
  assert.deepEqual(write(CANCELLED), NOTHING);
  write(delta("item_b", 640));
  assert.equal(write(CANCELLED).messages.length, 1);
});

test("each key silences a response that began since the last key, and so does the hash", () => {
  const { key, write } = dialect();
  for (const [digit, types] of [
    ["1", SILENCED],
    ["2", SILENCED],
    ["#", ["conversation.item.create", ...SILENCED, "response.create"]],
  ] as const) {
    write(delta(`item_${digit}`, 640));
    const { messages, events } = key(digit);
    assert.deepEqual([messages, typesOf(events)], [CLEAR, types]);
    if (digit === "#") assert.equal(events[0].item.content[0].text, "I pressed 1 2 # on the keypad.");
  }
});

test("a stop ends the stream, unknown kinds are ignored, and a second start is refused", () => {
  const twilio = new TwilioDialect("MZ1", 0);
  const read = (text: string) => twilio.read(Buffer.from(text), 0);
  assert.equal(read('{"event":"stop"}'), null);
  assert.deepEqual(read('{"event":"new"}'), NOTHING);
  const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: 8_000, channels: 1 };
  const start = { streamSid: "MZ2", mediaFormat };
  assert.throws(() => read(JSON.stringify({ event: "start", start })), /started already/);
  assert.throws(() => read(""), /not JSON/);
});
