import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { itemText } from "../../../src/api/realtime/conversation-items.ts";
import { effectIn, SessionDriver, sentIn, typesIn, WINDOW_MS } from "./session-driver.ts";

const CLOCK = { callId: "call_1", name: "clock", arguments: "{}" };
const MESSAGE_BEGINS = [
  "response.output_item.added",
  "conversation.item.added",
  "response.content_part.added",
];
const SAID = [...MESSAGE_BEGINS, "response.output_audio_transcript.delta", "response.output_audio.delta"];
const MESSAGE_ENDS = [
  "response.output_audio.done",
  "response.output_audio_transcript.done",
  "response.content_part.done",
  "conversation.item.done",
  "response.output_item.done",
];
const CALLED = [
  "response.output_item.added",
  "conversation.item.added",
  "response.function_call_arguments.delta",
  "response.function_call_arguments.done",
  "conversation.item.done",
  "response.output_item.done",
];

interface Typed {
  readonly type: string;
}
const kindsOf = (items: readonly Typed[]) => items.map(({ type }) => type);

/** A session that has requested a response. */
function requested(settings: ConstructorParameters<typeof SessionDriver>[0] = {}): SessionDriver {
  const driver = new SessionDriver(settings);
  driver.respond();
  return driver;
}

describe("a function call in a response", () => {
  it("is an item of its own before, between or after messages", () => {
    const driver = requested();
    assert.deepEqual(typesIn(driver.delta({ call: CLOCK })), CALLED);
    assert.deepEqual(typesIn(driver.replyWord("Well", 0)), SAID);
    const call = (callId: string) => typesIn(driver.delta({ call: { ...CLOCK, callId } }));
    assert.deepEqual(call("call_2"), [...MESSAGE_ENDS, ...CALLED]);
    assert.deepEqual(call("call_3"), CALLED);
    assert.deepEqual(typesIn(driver.replyWord("then", 1)), SAID);
    const ended = driver.completeReply();
    assert.deepEqual(typesIn(ended), [...MESSAGE_ENDS, "response.done"]);
    const { status, output } = sentIn(ended).at(-1)!.response as { status: string; output: Typed[] };
    assert.equal(status, "completed");
    const kinds = ["function_call", "message", "function_call", "function_call", "message"];
    for (const items of [output, driver.session.items]) assert.deepEqual(kindsOf(items), kinds);
    assert.equal(new Set(driver.session.items.map(({ id }) => id)).size, 5);
  });

  it("starts without arguments and is done with them", () => {
    const driver = requested();
    const call = { ...CLOCK, arguments: '{"a":1}' };
    const sent = sentIn(driver.delta({ call }));
    const item = { object: "realtime.item", type: "function_call", call_id: "call_1", name: "clock" };
    const { id } = driver.session.items[0]!;
    assert.deepEqual(sent[0]!.item, { id, ...item, status: "in_progress", arguments: "" });
    const at = { response_id: driver.responseId, item_id: id, output_index: 0, call_id: "call_1" };
    const type = "response.function_call_arguments";
    assert.deepEqual(sent[2], { type: `${type}.delta`, ...at, delta: '{"a":1}' });
    assert.deepEqual(sent[3], { type: `${type}.done`, ...at, name: "clock", arguments: '{"a":1}' });
    assert.deepEqual(sent[5]!.item, { id, ...item, status: "completed", arguments: '{"a":1}' });
  });

  it("completes a response without audio", () => {
    const driver = requested();
    driver.delta({ call: CLOCK });
    const usage = { inputTokens: 20, textTokens: 9, audioTokens: 0 };
    const [done] = sentIn(driver.completeReply(usage));
    const { status, usage: sent } = done!.response as { status: string; usage: object };
    assert.equal(status, "completed");
    assert.deepEqual(sent, {
      total_tokens: 29,
      input_tokens: 20,
      output_tokens: 9,
      input_token_details: { text_tokens: 20, audio_tokens: 0, cached_tokens: 0 },
      output_token_details: { text_tokens: 9, audio_tokens: 0 },
    });
    assert.ok(!driver.types.some((type) => type.includes("audio")));
  });

  it("leaves the messages around it their own words and times", () => {
    const driver = requested();
    const said = (text: string, endMs: number, endsAt: number) =>
      driver.delta({ text, audio: { base64: "AAAA", durationMs: 400, words: [{ endMs, endsAt }] } });
    said("One", 400, 3);
    said(" two.", 800, 8);
    driver.delta({ call: CLOCK });
    said(" Three", 1_200, 14);
    said(" four.", 1_600, 20);
    // 500 ms into the second message, which is played after the first.
    driver.nowMs += 1_300;
    driver.windows(10, 0.99);
    const [first, , second] = driver.session.items;
    assert.deepEqual([itemText(first!), itemText(second!)], ["One two.", "Three"]);
    const deltas = driver.sent.filter(({ type }) => type === "response.output_audio_transcript.delta");
    assert.equal(deltas.map(({ delta }) => delta).join("|"), "One| two.|Three| four.");
  });

  it("is answered with its output in the next response", () => {
    const driver = requested();
    driver.delta({ call: CLOCK });
    driver.completeReply();
    const item = { type: "function_call_output" as const, call_id: "call_1", output: "Noon." };
    const created = driver.client({ type: "conversation.item.create", item });
    assert.deepEqual(typesIn(created), ["conversation.item.added", "conversation.item.done"]);
    assert.deepEqual(typesIn(driver.respond()), ["response.created"]);
    const { items } = effectIn(driver.effects, "respond").request;
    assert.deepEqual(kindsOf(items), ["function_call", "function_call_output"]);
  });

  /** A session that has spoken four words and called a function, and has a second response. */
  function afterCall(): SessionDriver {
    const driver = requested();
    driver.replyWords("One", "two", "three", "four.");
    driver.delta({ call: CLOCK });
    driver.completeReply();
    driver.respond();
    return driver;
  }

  it("can be answered during playback: an interruption cuts every response", () => {
    const driver = afterCall();
    driver.replyWords("Five", "six.");
    driver.completeReply();
    driver.respond();
    driver.replyWord("Seven.", 0);
    driver.nowMs += 900 - 5 * WINDOW_MS;
    assert.deepEqual(typesIn(driver.windows(4, 0.99)), [], "interrupting playback takes five windows");
    driver.windows(1, 0.99);
    const messages = driver.session.items.filter(({ type }) => type === "message");
    assert.deepEqual(messages.map(itemText), ["One two", "", ""]);
  });

  it("can be answered during playback, which ends where the client truncates it", () => {
    const driver = afterCall();
    const at = { item_id: driver.session.items[0]!.id, content_index: 0, audio_end_ms: 500 };
    driver.client({ type: "conversation.item.truncate", ...at });
    driver.nowMs += 500;
    driver.replyWords("Five", "six.");
    driver.nowMs += 450;
    driver.windows(5, 0.99);
    assert.equal(itemText(driver.session.items.at(-1)!), "Five", "it is played at once");
  });

  it("is dropped after an interruption", () => {
    const driver = requested();
    driver.replyWord("Well", 0);
    driver.windows(10, 0.99);
    assert.deepEqual(driver.delta({ call: CLOCK }), []);
  });
});

describe("a text response", () => {
  it("sends its text events in order", () => {
    const driver = requested({ modality: "text" });
    const DELTA = "response.output_text.delta";
    assert.deepEqual(typesIn(driver.delta({ text: "One." })), [...MESSAGE_BEGINS, DELTA]);
    assert.deepEqual(typesIn(driver.delta({ text: " Two." })), [DELTA]);
    const ended = driver.completeReply();
    assert.deepEqual(typesIn(ended), [
      "response.output_text.done",
      "response.content_part.done",
      "conversation.item.done",
      "response.output_item.done",
      "response.done",
    ]);
    assert.equal(sentIn(ended)[0]!.text, "One. Two.");
    assert.deepEqual(sentIn(ended)[1]!.part, { type: "text", text: "One. Two." });
    const { content } = sentIn(ended)[3]!.item as { content: unknown };
    assert.deepEqual(content, [{ type: "output_text", text: "One. Two." }]);
  });
});
