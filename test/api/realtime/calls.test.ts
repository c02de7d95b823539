import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ConversationItem, itemText } from "../../../src/api/realtime/conversation-items.ts";
import { OutputQueue, prepareResponse } from "../../../src/api/realtime/generate-response.ts";
import type { ResponseDelta } from "../../../src/api/realtime/realtime-response.ts";
import {
  defaultSettings,
  type SessionSettings,
  updateSettings,
} from "../../../src/api/realtime/session-settings.ts";
import { JsonText } from "../../../src/contract/json/read-json.ts";
import { MAX_SESSION_INSTRUCTIONS_CHARS, MAX_TOOLS_CHARS } from "../../../src/contract/realtime/session.ts";
import { findModel, PUBLIC_MODELS } from "../../../src/models/public-models.ts";
import { sentIn, Table, typesIn, VOICES, WINDOW_MS } from "./events.ts";

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

function tell(table: Table, delta: Partial<ResponseDelta>): readonly string[] {
  const { responseId } = table;
  return typesIn(
    table.tell({ type: "response_delta", responseId, delta: { text: "", audio: null, ...delta } }),
  );
}

describe("calls in a reply", () => {
  it("come before, between and after what is said, each as an item of its own, in the order clients rely on", () => {
    const table = new Table();
    table.client({ type: "response.create" });
    assert.deepEqual(tell(table, { call: CLOCK }), CALLED);
    assert.deepEqual(typesIn(table.says("Well", 0)), SAID);
    assert.deepEqual(tell(table, { call: { ...CLOCK, callId: "call_2" } }), [...MESSAGE_ENDS, ...CALLED]);
    assert.deepEqual(tell(table, { call: { ...CLOCK, callId: "call_3" } }), CALLED);
    assert.deepEqual(typesIn(table.says("then", 1)), SAID);
    const ended = table.ends();
    assert.deepEqual(typesIn(ended), [...MESSAGE_ENDS, "response.done"]);
    const { response } = sentIn(ended).at(-1) as {
      response?: { status: string; output: { type: string }[] };
    };
    assert.equal(response!.status, "completed");
    const kinds = ["function_call", "message", "function_call", "function_call", "message"];
    assert.deepEqual(
      response!.output.map(({ type }) => type),
      kinds,
    );
    assert.deepEqual(
      table.session.items.map(({ type }) => type),
      kinds,
    );
    const ids = new Set(table.session.items.map(({ id }) => id));
    assert.equal(ids.size, 5);
  });

  it("begin without arguments and end with them: a call is carried out when it is complete", () => {
    const table = new Table();
    table.client({ type: "response.create" });
    const call = { ...CLOCK, arguments: '{"a":1}' };
    const sent = sentIn(
      table.tell({
        type: "response_delta",
        responseId: table.responseId,
        delta: { text: "", audio: null, call },
      }),
    );
    const item = { object: "realtime.item", type: "function_call", call_id: "call_1", name: "clock" };
    const { id } = table.session.items[0]!;
    assert.deepEqual(sent[0]!.item, { id, ...item, status: "in_progress", arguments: "" });
    const at = { response_id: table.responseId, item_id: id, output_index: 0, call_id: "call_1" };
    const type = "response.function_call_arguments";
    assert.deepEqual(sent[2], { type: `${type}.delta`, ...at, delta: '{"a":1}' });
    assert.deepEqual(sent[3], { type: `${type}.done`, ...at, name: "clock", arguments: '{"a":1}' });
    assert.deepEqual(sent[5]!.item, { id, ...item, status: "completed", arguments: '{"a":1}' });
  });

  it("alone are a reply that is complete and was never audio", () => {
    const table = new Table();
    table.client({ type: "response.create" });
    tell(table, { call: CLOCK });
    const usage = { inputTokens: 20, textTokens: 9, audioTokens: 0 };
    const sent = sentIn(
      table.tell({ type: "response_ended", responseId: table.responseId, end: { type: "completed", usage } }),
    );
    const { status, usage: told } = sent[0]!.response as { status: string; usage: object };
    assert.equal(status, "completed");
    assert.deepEqual(told, {
      total_tokens: 29,
      input_tokens: 20,
      output_tokens: 9,
      input_token_details: { text_tokens: 20, audio_tokens: 0, cached_tokens: 0 },
      output_token_details: { text_tokens: 9, audio_tokens: 0 },
    });
    assert.ok(!table.types.some((type) => type.includes("audio")));
  });

  it("leave each message its own words and time: what was heard of a reply is told to the word", () => {
    const table = new Table();
    table.client({ type: "response.create" });
    const said = (text: string, endMs: number, endsAt: number) =>
      tell(table, { text, audio: { base64: "AAAA", durationMs: 400, words: [{ endMs, endsAt }] } });
    said("One", 400, 3);
    said(" two.", 800, 8);
    tell(table, { call: CLOCK });
    said(" Three", 1_200, 14);
    said(" four.", 1_600, 20);
    // 500 ms into the second message, which is played after the first.
    table.nowMs += 1_300;
    table.windows(10, 0.99);
    const [first, , second] = table.session.items;
    assert.deepEqual([itemText(first!), itemText(second!)], ["One two.", "Three"]);
    const deltas = table.sent.filter(({ type }) => type === "response.output_audio_transcript.delta");
    assert.deepEqual(
      deltas.map(({ delta }) => delta),
      ["One", " two.", "Three", " four."],
    );
  });

  it("go on with what came of them, while somebody speaks or not", () => {
    const table = new Table();
    table.client({ type: "response.create" });
    tell(table, { call: CLOCK });
    table.ends();
    const item = { type: "function_call_output" as const, call_id: "call_1", output: "Noon." };
    const created = table.client({ type: "conversation.item.create", item });
    assert.deepEqual(typesIn(created), ["conversation.item.added", "conversation.item.done"]);
    assert.deepEqual(typesIn(table.client({ type: "response.create" })), ["response.created"]);
    const asked = table.effects.findLast((effect) => effect.type === "respond");
    assert.deepEqual(asked?.type === "respond" && asked.request.items.map(({ type }) => type), [
      "function_call",
      "function_call_output",
    ]);
  });

  it("may be answered while what was said before is played: an interruption cuts all of it to what was heard", () => {
    const table = new Table();
    table.client({ type: "response.create" });
    const words = (...texts: string[]) => {
      for (const [at, word] of texts.entries()) table.says(word, at);
    };
    words("One", "two", "three", "four.");
    tell(table, { call: CLOCK });
    table.ends();
    table.client({ type: "response.create" });
    words("Five", "six.");
    table.ends();
    table.client({ type: "response.create" });
    words("Seven.");
    const { nowMs } = table;
    table.nowMs += 900 - 5 * WINDOW_MS;
    assert.deepEqual(
      typesIn(table.windows(4, 0.99)),
      [],
      "an interruption takes five windows while any is heard",
    );
    table.windows(1, 0.99);
    assert.equal(table.nowMs, nowMs + 900);
    const heard = () =>
      table.session.items.flatMap((item) => (item.type === "message" ? [itemText(item)] : []));
    assert.deepEqual(heard(), ["One two", "", ""]);
  });

  it("may be answered while what was said before is played, which ends where the client says", () => {
    const table = new Table();
    table.client({ type: "response.create" });
    for (const [at, word] of ["One", "two", "three", "four."].entries()) table.says(word, at);
    tell(table, { call: CLOCK });
    table.ends();
    table.client({ type: "response.create" });
    const [first] = table.session.items;
    const at = { content_index: 0, audio_end_ms: 500 };
    table.client({ type: "conversation.item.truncate", item_id: first!.id, ...at });
    table.nowMs += 500;
    table.says("Five", 0);
    table.says("six.", 1);
    table.nowMs += 450;
    table.windows(5, 0.99);
    assert.equal(itemText(table.session.items.at(-1)!), "Five", "it is played at once");
  });

  it("that come after an interruption are void", () => {
    const table = new Table();
    table.client({ type: "response.create" });
    table.says("Well", 0);
    const { responseId } = table;
    table.windows(10, 0.99);
    const late = table.tell({
      type: "response_delta",
      responseId,
      delta: { text: "", audio: null, call: CLOCK },
    });
    assert.deepEqual(late, []);
  });
});

describe("a reply in text alone", () => {
  it("is told as text, in its order", () => {
    const table = new Table({ modality: "text" });
    table.client({ type: "response.create" });
    assert.deepEqual(tell(table, { text: "One." }), [...MESSAGE_BEGINS, "response.output_text.delta"]);
    assert.deepEqual(tell(table, { text: " Two." }), ["response.output_text.delta"]);
    const ended = table.ends();
    assert.deepEqual(typesIn(ended), [
      "response.output_text.done",
      "response.content_part.done",
      "conversation.item.done",
      "response.output_item.done",
      "response.done",
    ]);
    assert.equal(sentIn(ended)[0]!.text, "One. Two.");
    assert.deepEqual(sentIn(ended)[1]!.part, { type: "text", text: "One. Two." });
    assert.deepEqual((sentIn(ended)[3]!.item as { content: unknown }).content, [
      { type: "output_text", text: "One. Two." },
    ]);
  });
});

describe("the order of a reply", () => {
  it("has calls before the sentence that they were made before, and what is left at the end", () => {
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

const TOOLS = [{ type: "function" as const, name: "clock" }];

describe("a session's functions", () => {
  const settings = defaultSettings("svc-beta-v0.3", VOICES);

  it("are told as they are where they can be called, and as none where not", () => {
    const update = { type: "session.update" as const, session: { tools: TOOLS, tool_choice: "required" } };
    const table = new Table();
    const [told] = sentIn(table.client(update));
    const { tools, tool_choice } = told!.session as { tools: unknown; tool_choice: unknown };
    assert.deepEqual([tools, tool_choice], [[], "none"]);
    const calling = new Table({}, { callsTools: () => true });
    const [session] = sentIn(calling.client(update)).map((event) => event.session as typeof update.session);
    assert.deepEqual([session!.tools, session!.tool_choice], [TOOLS, "required"]);
  });

  it("may be demanded by name, while they are there", () => {
    const named = updateSettings(
      settings,
      { tools: TOOLS, tool_choice: { type: "function", name: "clock" } },
      false,
    );
    assert.deepEqual(named.toolChoice, { name: "clock" });
    const asChat = { type: "function", function: { name: "clock" } };
    assert.deepEqual(updateSettings(named, { tool_choice: asChat }, false).toolChoice, { name: "clock" });
    assert.deepEqual(updateSettings(named, { instructions: "Be kind." }, false).toolChoice, {
      name: "clock",
    });
    assert.equal(updateSettings(named, { tools: [] }, false).toolChoice, "auto");
    assert.equal(updateSettings(named, { tool_choice: null }, false).toolChoice, "auto");
    assert.deepEqual(updateSettings(named, { tools: null }, false).tools, []);
  });

  it("are refused by the name of the field", () => {
    const refused = (update: Parameters<typeof updateSettings>[1], param: string) => {
      assert.throws(() => updateSettings(settings, update, false), { param });
      assert.throws(() => updateSettings(settings, update, false, "response"), {
        param: param.replace("session", "response"),
      });
    };
    for (const tool_choice of ["clock", { type: "function", name: "clock" }, { type: "mcp" }])
      refused({ tool_choice }, "session.tool_choice");
    refused({ tools: [...TOOLS, ...TOOLS] }, "session.tools");
    const parameters = new JsonText(JSON.stringify({ text: "x".repeat(MAX_TOOLS_CHARS) }));
    refused({ tools: [{ ...TOOLS[0]!, parameters }] }, "session.tools");
  });
});

describe("a reply that is prepared", () => {
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

  it("has the voice of the session: a label's by its label, and another under the first one's", () => {
    const items = [message("user", "Hi.")];
    const by = (voice: string) => prepared(items, { voice });
    const { conversation, voice } = by("echo");
    assert.deepEqual(
      [conversation.open.speaker, conversation.history[0]?.speaker, voice],
      ["1", "0", undefined],
    );
    const own = by("Anna");
    assert.deepEqual([own.conversation.open.speaker, own.conversation.history[0]?.speaker], ["0", "1"]);
    assert.deepEqual(own.customVoice, { name: "Anna", field: 'voices["0"]' });
  });

  it("has no functions where there are none", () => {
    assert.equal(prepared([message("user", "Hi.")]).toolUse, undefined);
  });

  it("has earlier calls between the turns, each with what came of it, which counts as input", () => {
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

  it("forgets calls with the turns around them", () => {
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

  it("has instructions as long as a session's may be, the system's newest words among them", () => {
    const instructions = "x".repeat(MAX_SESSION_INSTRUCTIONS_CHARS - 10);
    const told = [message("system", "too long for it", 1), message("system", "be kind", 2)];
    assert.equal(prepared([...told], { instructions }).instructions, `${instructions}\n\nbe kind`);
    assert.equal(prepared([]).instructions, null);
  });

  it("is bounded in tokens where it is text, and in frames where it is sound", () => {
    assert.equal(prepared([], { modality: "text", maxOutputTokens: 5 }).maxTokens, 5);
    assert.equal(prepared([], { modality: "text" }).maxTokens, undefined);
    const spoken = prepared([], { maxOutputTokens: 50 });
    assert.deepEqual([spoken.maxTokens, spoken.delivery.maxFrames], [undefined, 50]);
  });
});
