import assert from "node:assert/strict";
import { test } from "node:test";
import type { DialectOutput } from "../../../src/api/realtime/realtime-dialect.ts";
import { TwilioDialect } from "../../../src/api/realtime/twilio-dialect.ts";

const SILENCE = 0xff;

/** What comes of something, as it is on the wire. */
function wired({ messages, events }: DialectOutput) {
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
    return wired(taken);
  };
  return {
    read,
    media: (timestamp: number, nowMs: number, bytes = 160) =>
      read(
        { event: "media", media: { track: "inbound", timestamp: `${timestamp}`, payload: base64(bytes) } },
        nowMs,
      ),
    mark: (name: string) => read({ event: "mark", mark: { name } }),
    write: (event: { readonly type: string } & Record<string, unknown>) => wired(twilio.write(event)),
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

test("sound is handed on as it comes, and what is missing by its timestamps is silence", () => {
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

test("a timestamp that cannot be is not believed, and those behind it are", () => {
  for (const odd of [999_999_999, -45_000, 30_000]) {
    const { media } = dialect();
    assert.equal(lengthOf(media(50_000, 20).events), 160);
    assert.equal(lengthOf(media(50_000 + odd, 40).events), 160, `${odd}`);
    assert.equal(lengthOf(media(50_040, 60).events), 160);
    assert.equal(lengthOf(media(50_060, 80).events), 160);
    assert.equal(lengthOf(media(55_060, 5_080).events), 160 + 8 * 4_980);
  }
});

test("a clock that was set goes on from there", () => {
  const { media } = dialect();
  media(0, 20);
  media(999_999_980, 40);
  media(1_000_000_000, 60);
  assert.equal(lengthOf(media(1_000_005_000, 5_060).events), 160 + 8 * 4_980);
});

test("no more silence is put in than time has passed", () => {
  const { media } = dialect();
  let bytes = 0;
  for (let count = 0; count < 100; count++) bytes += lengthOf(media(count * 60, 10 * count).events);
  assert.ok(bytes <= 8 * (990 + 1_000) + 100 * 160, `${bytes} bytes`);
  assert.ok(bytes > 100 * 160);
});

test("sound of the other side is not heard", () => {
  const { read } = dialect();
  assert.deepEqual(read({ event: "media", media: { track: "outbound", payload: base64(160) } }).events, []);
});

test("a reply goes out in pieces of 80 ms with a mark behind each", () => {
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

test("an interruption clears what is played, and tells what was heard by the last mark before", () => {
  const { write, mark } = dialect();
  write(delta("item_a", 6_400));
  mark("item_a/80");
  mark("item_a/240");
  mark("item_a/160");
  const { messages, events } = write({ type: "input_audio_buffer.speech_started" });
  assert.deepEqual(messages, [{ event: "clear", streamSid: "MZ1" }]);
  const cut = { type: "conversation.item.truncate", item_id: "item_a", content_index: 0 };
  assert.deepEqual(events, [{ ...cut, audio_end_ms: 240 }]);
  mark("item_a/800");
  const cancelled = { type: "response.done", response: { status: "cancelled" } };
  assert.deepEqual(write(cancelled), { messages: [], events: [] });
});

test("a reply that was played to its end is not cleared, and one behind another is cut with it", () => {
  const { write, mark } = dialect();
  write(delta("item_a", 1_280));
  write({ type: "response.output_audio.done", item_id: "item_a" });
  mark("item_a/160");
  assert.deepEqual(write({ type: "input_audio_buffer.speech_started" }).messages, []);
  write(delta("item_b", 1_280));
  write({ type: "response.output_audio.done", item_id: "item_b" });
  write(delta("item_c", 1_280));
  mark("item_b/80");
  const { events } = write({ type: "response.done", response: { status: "cancelled" } });
  assert.deepEqual(
    events.map(({ item_id, audio_end_ms }) => [item_id, audio_end_ms]),
    [
      ["item_b", 80],
      ["item_c", 0],
    ],
  );
});

test("a mark says no more than was sent", () => {
  const { write, mark } = dialect();
  write(delta("item_a", 640));
  for (const name of ["item_a/999999", "item_b/80", "", "/", "item_a/-1", "item_a/1e9"].filter(Boolean))
    mark(name);
  assert.equal(write({ type: "input_audio_buffer.speech_started" }).events[0].audio_end_ms, 80);
});

test("keys end with a hash, or two seconds after the last, and silence a reply", () => {
  const { read, write, media } = dialect();
  const key = (digit: string, nowMs: number) => read({ event: "dtmf", dtmf: { digit } }, nowMs);
  write(delta("item_a", 640));
  const first = key("1", 100);
  assert.deepEqual(first.messages, [{ event: "clear", streamSid: "MZ1" }]);
  assert.deepEqual(
    first.events.map(({ type }) => type),
    ["conversation.item.truncate", "response.cancel"],
  );
  assert.equal(media(0, 2_000).events.length, 1);
  const [, item, cancel, response] = media(20, 2_100).events;
  assert.equal(item.item.content[0].text, "I pressed 1 on the keypad.");
  assert.deepEqual([cancel.type, response.type], ["response.cancel", "response.create"]);
  assert.deepEqual(
    key("#", 9_000).events.map(({ type }) => type),
    ["conversation.item.create", "response.cancel", "response.create"],
  );
});

test("what a key has cleared is not played on: it may still come until its reply is cancelled", () => {
  const { read, write, mark } = dialect();
  write(delta("item_a", 6_400));
  mark("item_a/400");
  const [cut] = read({ event: "dtmf", dtmf: { digit: "4" } }).events;
  assert.deepEqual([cut.item_id, cut.audio_end_ms], ["item_a", 400]);
  assert.deepEqual(write(delta("item_a", 640)), { messages: [], events: [] });
  const cancelled = { type: "response.done", response: { status: "cancelled" } };
  assert.deepEqual(write(cancelled), { messages: [], events: [] });
  write(delta("item_b", 640));
  assert.equal(write(cancelled).messages.length, 1);
});

test("each key silences a reply that began since the one before, and so does the end of the keys", () => {
  const { read, write } = dialect();
  const key = (digit: string) => read({ event: "dtmf", dtmf: { digit } });
  const silenced = ["conversation.item.truncate", "response.cancel"];
  for (const [digit, item_id] of Object.entries({ 1: "item_a", 2: "item_b" })) {
    write(delta(item_id, 640));
    const { messages, events } = key(digit);
    assert.deepEqual(messages, [{ event: "clear", streamSid: "MZ1" }]);
    assert.deepEqual(
      events.map(({ type }) => type),
      silenced,
    );
  }
  write(delta("item_c", 640));
  const { messages, events } = key("#");
  assert.deepEqual(messages, [{ event: "clear", streamSid: "MZ1" }]);
  assert.deepEqual(
    events.map(({ type }) => type),
    ["conversation.item.create", ...silenced, "response.create"],
  );
  assert.equal(events[0].item.content[0].text, "I pressed 1 2 # on the keypad.");
});

test("the end of the stream is the end, kinds that are not known are nothing, and a second start is refused", () => {
  const twilio = new TwilioDialect("MZ1", 0);
  assert.equal(twilio.read(Buffer.from('{"event":"stop"}'), 0), null);
  assert.deepEqual(twilio.read(Buffer.from('{"event":"new"}'), 0), { messages: [], events: [] });
  const start = {
    streamSid: "MZ2",
    mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8_000, channels: 1 },
  };
  assert.throws(
    () => twilio.read(Buffer.from(JSON.stringify({ event: "start", start })), 0),
    /started already/,
  );
  assert.throws(() => twilio.read(Buffer.from(""), 0), /not JSON/);
});
