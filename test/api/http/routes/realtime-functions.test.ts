import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import type { ServerEvent } from "../../../../src/api/realtime/realtime-dialect.ts";
import { JsonText } from "../../../../src/contract/json/read-json.ts";
import type { ClientEvent } from "../../../../src/contract/realtime/client-events.ts";
import { until } from "../../../waiting.ts";
import { ChatServer, type Exchange } from "../../../writers/chat/chat-server.ts";
import { ScriptedWriter } from "../../../writers/scripted-writer.ts";
import { RealtimeClient } from "../../realtime/client.ts";
import { ScriptedDetector } from "../../realtime/scripted-detector.ts";
import { writerAt } from "../chat-writer.ts";
import { startForTest, startTestServer, type TestServer } from "../start.ts";

describe("A realtime session with functions", () => {
  /** The `index`-th event of a type. */
  async function event(type: string, index = 0): Promise<ServerEvent> {
    const found = () => client.events.filter((each) => each.type === type);
    await until(`${type}, number ${index}`, () => found().length > index);
    return found()[index]!;
  }

  /** The types of a response's events, with the first of several deltas. */
  async function reply(index = 0): Promise<string[]> {
    const done = await event("response.done", index);
    const created = await event("response.created", index);
    const types = client.events
      .slice(client.events.indexOf(created), client.events.indexOf(done) + 1)
      .map(({ type }) => type.replace("response.", ""));
    return types.filter((type, n) => !type.endsWith(".delta") || types.indexOf(type) === n);
  }

  const send = (...events: readonly ClientEvent[]): void => {
    for (const each of events) client.send(each);
  };

  const WEATHER = { type: "function" as const, name: "weather", description: "Of a town." };
  const ASKED: ClientEvent = {
    type: "conversation.item.create",
    item: { type: "message", role: "user", content: [{ type: "input_text", text: "How is it in Rome?" }] },
  };
  const ITEM = ["output_item.added", "conversation.item.added"];
  const ITEM_DONE = ["conversation.item.done", "output_item.done"];
  const SPOKEN = [
    ...ITEM,
    "content_part.added",
    "output_audio_transcript.delta",
    "output_audio.delta",
    "output_audio.done",
    "output_audio_transcript.done",
    "content_part.done",
    ...ITEM_DONE,
  ];
  const CALLED = [...ITEM, "function_call_arguments.delta", "function_call_arguments.done", ...ITEM_DONE];

  function calls(exchange: Exchange, id: string, town: string): Exchange {
    const call = { name: "weather", arguments: JSON.stringify({ town }) };
    const tool_calls = [{ index: 0, id, type: "function", function: call }];
    return exchange.send({ choices: [{ index: 0, delta: { tool_calls }, finish_reason: null }] });
  }

  let endpoint: ChatServer;
  let server: TestServer;
  let client: RealtimeClient;

  before(async () => {
    endpoint = await ChatServer.open();
    server = await startTestServer({ writer: writerAt(endpoint), detector: new ScriptedDetector() });
  });
  after(async () => {
    await server.stop();
    await endpoint.close();
  });
  beforeEach(async () => {
    client = await RealtimeClient.open(server);
  });
  afterEach(() => client.close());

  test("calls a function, sends its output to the writer and speaks the answer", async () => {
    send({ type: "session.update", session: { tools: [WEATHER], tool_choice: "auto" } });
    const { session } = await event("session.updated");
    assert.deepEqual((session as { tools: unknown }).tools, [WEATHER]);
    const first = endpoint.exchanges.length;
    endpoint.next(
      (exchange) => calls(exchange.begin().say("Let me see."), "call_1", "Rome").finish("tool_calls"),
      (exchange) => exchange.begin().say("It is sunny.").finish(),
    );
    send(ASKED, { type: "response.create" });
    assert.deepEqual(await reply(), ["created", ...SPOKEN, ...CALLED, "done"]);
    const { call_id, name, arguments: sent } = await event("response.function_call_arguments.done");
    assert.deepEqual([call_id, name, sent], ["call_1", "weather", '{"town":"Rome"}']);
    const { response } = await event("response.done");
    const { status, usage: used } = response as { status: string; usage: { input_tokens: number } };
    assert.deepEqual([status, used.input_tokens], ["completed", 12]);
    const output = '{"sky":"clear"}';
    send(
      { type: "conversation.item.create", item: { type: "function_call_output", call_id: "call_1", output } },
      { type: "response.create" },
    );
    assert.deepEqual(await reply(1), ["created", ...SPOKEN, "done"]);
    const { transcript } = await event("response.output_audio_transcript.done", 1);
    assert.equal(transcript, "It is sunny.");
    const { messages } = endpoint.exchanges[first + 1]!.body;
    const call = { name: "weather", arguments: '{"town":"Rome"}' };
    assert.deepEqual(messages.slice(1), [
      { role: "user", content: "How is it in Rome?" },
      {
        role: "assistant",
        content: "Let me see.",
        tool_calls: [{ id: "call_1", type: "function", function: call }],
      },
      { role: "tool", tool_call_id: "call_1", content: output },
    ]);
  });

  /** Runs a response without audio and checks what it is metered. */
  async function isMeteredByText(respond: () => Promise<void>): Promise<void> {
    const before = await server.usage();
    await respond();
    const after = await server.usage();
    assert.equal(after.input_chars - before.input_chars, "How is it in Rome?".length);
    assert.equal(after.output_audio_seconds, before.output_audio_seconds);
  }

  test("meters a reply of calls alone, without audio", () =>
    isMeteredByText(async () => {
      endpoint.next((exchange) => calls(exchange.begin(), "call_2", "Oslo").finish("tool_calls"));
      send(ASKED, { type: "response.create", response: { tools: [WEATHER], tool_choice: "required" } });
      assert.deepEqual(await reply(), ["created", ...CALLED, "done"]);
      const { response } = await event("response.done");
      assert.equal((response as { status: string }).status, "completed");
      assert.equal((endpoint.exchanges.at(-1)!.body as { tool_choice?: unknown }).tool_choice, "required");
    }));

  test("writes and meters a text reply without speaking it", () =>
    isMeteredByText(async () => {
      endpoint.next((exchange) => exchange.begin().say("One. Two.").finish());
      send(
        { type: "session.update", session: { output_modalities: ["text"], max_output_tokens: 50 } },
        ASKED,
        { type: "response.create" },
      );
      const part = ["content_part.added", "output_text.delta", "output_text.done", "content_part.done"];
      assert.deepEqual(await reply(), ["created", ...ITEM, ...part, ...ITEM_DONE, "done"]);
      assert.equal((await event("response.output_text.done")).text, "One. Two.");
      assert.equal(endpoint.exchanges.at(-1)!.body.max_tokens, 50);
    }));

  test("fails a reply with malformed calls and goes on", async () => {
    const tool_calls = [{ index: 0, id: "a", function: { name: "format_disk", arguments: "{}" } }];
    endpoint.next(
      (exchange) =>
        void exchange
          .begin()
          .send({ choices: [{ delta: { tool_calls } }] })
          .finish("tool_calls"),
      (exchange) => exchange.begin().say("Here I am.").finish(),
    );
    const create: ClientEvent = { type: "response.create", response: { tools: [WEATHER] } };
    send(ASKED, create);
    await reply();
    send(create);
    await reply(1);
    const done = client.events.filter(({ type }) => type === "response.done");
    assert.deepEqual(
      done.map(({ response }) => (response as { status: string }).status),
      ["failed", "completed"],
    );
  });

  test("names the field of an output, function or instruction that is too long", async () => {
    const long = "x".repeat(200_000);
    const parameters = new JsonText(JSON.stringify({ text: long }));
    const item = { type: "function_call_output" as const, call_id: "call_1", output: long };
    send(
      { type: "conversation.item.create", event_id: "mine", item },
      { type: "session.update", session: { tools: [{ ...WEATHER, parameters }] } },
      { type: "session.update", session: { instructions: long } },
      { type: "response.create", response: { tool_choice: "nothing like it" } },
    );
    await event("error", 3);
    const errors = client.events.flatMap(({ type, error }) => (type === "error" ? [error] : []));
    assert.deepEqual(
      (errors as { param: string }[]).map(({ param }) => param),
      ["item.output", "session.tools", "session.instructions", "response.tool_choice"],
    );
    assert.equal((errors[0] as { event_id: string }).event_id, "mine");
  });

  test("reports no functions when its writer cannot call any", async (t) => {
    const other = await startForTest(t, {
      writer: new ScriptedWriter(["Hello there."]),
      detector: new ScriptedDetector(),
    });
    await client.close();
    client = await RealtimeClient.open(other);
    const update: ClientEvent = {
      type: "session.update",
      session: { tools: [WEATHER], tool_choice: "required" },
    };
    send(update, ASKED, { type: "response.create" });
    const { session } = await event("session.updated");
    const { tools, tool_choice } = session as { tools: unknown; tool_choice: unknown };
    assert.deepEqual([tools, tool_choice], [[], "none"]);
    assert.deepEqual(await reply(), ["created", ...SPOKEN, "done"]);
  });
});
