import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ConversationItem } from "../../../src/api/realtime/conversation-items.ts";
import { OutputQueue, prepareResponse } from "../../../src/api/realtime/generate-response.ts";
import { defaultSettings, type SessionSettings } from "../../../src/api/realtime/session-settings.ts";
import { MAX_SESSION_INSTRUCTIONS_CHARS } from "../../../src/contract/realtime/session.ts";
import { findModel, PUBLIC_MODELS } from "../../../src/models/public-models.ts";
import { VOICES } from "./session-driver.ts";

const CLOCK = { callId: "call_1", name: "clock", arguments: "{}" };
const TOOLS = [{ type: "function" as const, name: "clock" }];

describe("OutputQueue", () => {
  it("returns calls before the sentence they precede, and the rest at the end", () => {
    const order = new OutputQueue();
    const call = (name: string) => ({ ...CLOCK, name });
    const names = (parts: readonly (string | typeof CLOCK)[]) =>
      parts.map((part) => (typeof part === "string" ? part : part.name));
    order.call(call("first"), 0);
    order.call(call("between"), 4);
    order.sentence("One.");
    order.sentence(" Two.");
    order.call(call("last"), 9);
    assert.deepEqual(names(order.take(-1)), []);
    assert.deepEqual(names(order.take(3)), ["first", "One."]);
    assert.ok(order.hasCall);
    assert.deepEqual(names(order.take(9)), ["between", " Two."]);
    assert.deepEqual(names(order.takeCalls()), ["last"]);
    assert.ok(!order.hasCall);
    assert.equal(order.length, 9);
  });
});

describe("prepareResponse", () => {
  const message = (role: "user" | "assistant" | "system", text: string, n = 0): ConversationItem => ({
    id: `${role}${n}`,
    type: "message",
    role,
    status: "completed",
    text,
    medium: "text",
    outputAudio: null,
  });
  const called = (callId: string): ConversationItem => ({
    ...CLOCK,
    id: `item_${callId}`,
    type: "function_call",
    status: "completed",
    callId,
  });
  const output = (callId: string, text: string): ConversationItem => ({
    id: `out_${callId}_${text}`,
    type: "function_call_output",
    status: "completed",
    callId,
    output: text,
  });
  const prepared = (items: readonly ConversationItem[], changes: Partial<SessionSettings> = {}) => {
    const settings = { ...defaultSettings("svc-beta-v0.3", VOICES), ...changes };
    return prepareResponse({ responseId: "resp_1", items, settings }, null, 0, (id) =>
      findModel(PUBLIC_MODELS, id),
    );
  };

  it("uses the session's voice: a model's by its label, a custom one under the first label", () => {
    const items = [message("user", "Hi.")];
    const by = (voice: string) => prepared(items, { voice });
    const { conversation, voice } = by("echo");
    const { open, history } = conversation;
    assert.deepEqual([open.speaker, history[0]?.speaker, voice], ["1", "0", undefined]);
    const own = by("Anna");
    assert.deepEqual([own.conversation.open.speaker, own.conversation.history[0]?.speaker], ["0", "1"]);
    assert.deepEqual(own.customVoice, { name: "Anna", field: 'voices["0"]' });
  });

  it("has no functions without tools or calls", () => {
    assert.equal(prepared([message("user", "Hi.")]).toolUse, undefined);
  });

  it("puts earlier calls and their outputs between the turns and counts them as input", () => {
    const items = [
      message("user", "Hi."),
      message("system", "Be kind."),
      called("a"),
      called("b"),
      message("user", "Well?", 1),
      output("b", "Noon."),
      output("c", "of no call"),
      called("b"),
      output("b", "One."),
    ];
    const { toolUse, input } = prepared(items, { tools: TOOLS, toolChoice: "required" });
    assert.equal(toolUse?.choice, "required");
    assert.deepEqual(
      toolUse?.calls.map(({ callId, output: text, turnsBefore }) => [callId, text, turnsBefore]),
      [
        ["a", null, 1],
        ["b", "Noon.", 1],
        ["b", "One.", 2],
      ],
    );
    assert.equal(input.chars, "Hi.Well?Noon.One.".length);
  });

  it("drops calls with the turns around them", () => {
    const turns = (count: number) =>
      Array.from({ length: count }, (_, n) => message(n % 2 === 0 ? "user" : "assistant", `${n}`, n));
    const items = [called("a"), ...turns(80), called("b")];
    const { toolUse, conversation } = prepared(items);
    assert.equal(conversation.history.length, 63);
    assert.deepEqual(
      toolUse?.calls.map(({ callId, turnsBefore }) => [callId, turnsBefore]),
      [["b", 63]],
    );
  });

  it("appends the newest system messages that fit to the instructions", () => {
    const instructions = "x".repeat(MAX_SESSION_INSTRUCTIONS_CHARS - 10);
    const items = [message("system", "too long for it", 1), message("system", "be kind", 2)];
    assert.equal(prepared(items, { instructions }).instructions, `${instructions}\n\nbe kind`);
    assert.equal(prepared([]).instructions, null);
  });

  it("limits text in tokens and speech in frames", () => {
    assert.equal(prepared([], { modality: "text", maxOutputTokens: 5 }).maxTokens, 5);
    assert.equal(prepared([], { modality: "text" }).maxTokens, undefined);
    const spoken = prepared([], { maxOutputTokens: 50 });
    assert.deepEqual([spoken.maxTokens, spoken.delivery.maxFrames], [undefined, 50]);
  });
});
