import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Dialogue, EarlierCall, ToolUse, WrittenPart } from "../../src/core/writer.ts";
import { readEvent, toParts } from "../../src/writers/chat/chat-reply.ts";
import { speakableWriter } from "../../src/writers/speakable/speakable.ts";
import { ToolCalls } from "../../src/writers/tool-calls.ts";
import fc from "../properties.ts";
import { openPair } from "./chat/chat-pair.ts";
import type { ChatServer, Exchange } from "./chat/chat-server.ts";
import { dialogueOf, partsOf, said } from "./dialogues.ts";

const WEATHER = { name: "weather", description: "The weather in a town.", parameters: { type: "object" } };
const CLOCK = { name: "clock" };
const ROME = '{"town":"Rome"}';
const NOT_GIVEN = /called a function that it was not given/;
function calling(toolUse: Partial<ToolUse> = {}, fields: Partial<Dialogue> = {}): Dialogue {
  const use: ToolUse = { tools: [WEATHER, CLOCK], choice: "auto", calls: [], ...toolUse };
  return dialogueOf("How is it in Rome?", { toolUse: use, ...fields });
}

/** Sends fragments of tool calls, each as one event. */
function call(exchange: Exchange, ...pieces: readonly object[]): Exchange {
  for (const piece of pieces)
    exchange.send({ choices: [{ index: 0, delta: { tool_calls: [piece] }, finish_reason: null }] });
  return exchange;
}

/** A fragment of a call with the id `a`. */
const fragment = (name: string, args?: string, fields = {}) => ({
  index: 0,
  id: "a",
  function: { name, arguments: args },
  ...fields,
});

/** Text as it is, calls as `name(arguments)`. */
function shown(parts: readonly WrittenPart[]): string[] {
  return parts.map(({ text, call: made }) =>
    made === undefined ? text : `${text}${made.name}(${made.arguments})`,
  );
}

const bodiesOf = (server: ChatServer) =>
  server.exchanges.map(({ body }) => body as unknown as Record<string, unknown>);

describe("function calls of a chat writer", () => {
  it("offers functions in the endpoint's form, and a tool_choice only where one is made", async (context) => {
    const { server, writer } = await openPair(context);
    await partsOf(writer, dialogueOf("Hi."));
    await partsOf(writer, calling());
    await partsOf(writer, calling({ choice: "required" }));
    await partsOf(writer, calling({ choice: { name: "clock" } }));
    const bodies = bodiesOf(server);
    assert.ok(!("tools" in bodies[0]!));
    assert.deepEqual(bodies[1]!.tools, [
      { type: "function", function: WEATHER },
      { type: "function", function: { name: "clock", parameters: { type: "object", properties: {} } } },
    ]);
    assert.deepEqual(
      bodies.map((body) => body.tool_choice),
      [undefined, undefined, "required", { type: "function", function: { name: "clock" } }],
    );
    assert.equal(bodies[0]!.max_tokens, 160);
    assert.equal(bodies[1]!.max_tokens, 1_184, "arguments need more tokens than speech");
  });

  it("assembles a call from its fragments", async (context) => {
    const { server, writer } = await openPair(context);
    server.next((exchange) => {
      call(
        exchange.begin(),
        { index: 0, id: "call_1", type: "function", function: { name: "weather", arguments: "" } },
        { index: 0, function: { arguments: '{"town"' } },
        { index: 0, function: { arguments: ':"Rome"}' } },
      ).finish("tool_calls");
    });
    const tokens = { prompt: 12, written: 7 };
    const made = { callId: "call_1", name: "weather", arguments: '{"town":"Rome"}' };
    assert.deepEqual(await partsOf(writer, calling()), [{ text: "", tokens, gate: null, call: made }]);
  });

  it("tells concurrent calls apart by index, id or name", async (context) => {
    const { server, writer } = await openPair(context);
    server.next(
      (exchange) =>
        call(
          exchange.begin(),
          fragment("weather", '{"town":'),
          fragment("clock", "{", { index: 1, id: "b" }),
          { index: 0, function: { arguments: '"Rome"}' } },
          { index: 1, function: { arguments: "}" } },
        ).finish("tool_calls"),
      (exchange) =>
        call(exchange.begin(), fragment("weather", ROME), fragment("clock", "{}", { id: "b" })).finish(
          "tool_calls",
        ),
      (exchange) =>
        call(
          exchange.begin(),
          { function: { name: "weather", arguments: ROME } },
          { function: { name: "clock", arguments: "{}" } },
        ).finish(),
      (exchange) => {
        const tool_calls = [
          { id: "a", function: { name: "weather", arguments: { town: "Rome" } } },
          { id: "b", function: { name: "clock" } },
        ];
        exchange.begin("application/json").raw(JSON.stringify({ choices: [{ message: { tool_calls } }] }));
        exchange.response.end();
      },
    );
    for (let way = 0; way < 3; way++)
      assert.deepEqual(shown(await partsOf(writer, calling())), [`weather(${ROME})`, "clock({})"]);
    // A whole message without a reason to end: a last call without arguments may have been cut off.
    assert.deepEqual(shown(await partsOf(writer, calling())), [`weather(${ROME})`]);
  });

  it("keeps the order of text and calls", async (context) => {
    const { server, writer } = await openPair(context);
    server.next((exchange) => {
      exchange.begin().say("Let me see. I'll look");
      call(exchange, fragment("clock", "{}"));
      exchange.say("Still there? ");
      call(exchange, fragment("weather", "{}", { index: 1, id: "b" }));
      exchange.say("That's all.").finish();
    });
    const chain = speakableWriter(writer);
    const expected = ["Let me see.", "I'll look", "clock({})", "Still there?", "weather({})", "That's all."];
    assert.deepEqual(shown(await partsOf(chain, calling())), expected);
  });

  it("adds no words to a reply that only calls", async (context) => {
    const { server, writer } = await openPair(context);
    const chain = speakableWriter(writer);
    const clock = (exchange: Exchange) => call(exchange.begin(), fragment("clock")).finish("tool_calls");
    server.next(clock, clock);
    assert.deepEqual(shown(await partsOf(chain, calling())), ["clock({})"]);
    const uncalled = await partsOf(chain, calling({ choice: "none" }));
    assert.deepEqual(shown(uncalled), ["Tell me a bit more about that."]);
  });

  it("drops calls that cannot be carried out, and fails if there is nothing else", async (context) => {
    const { server, writer } = await openPair(context);
    const bad = [
      fragment("unknown", "{}"),
      fragment("weather", '{"town":'),
      fragment("weather", "[]"),
      { index: 0, id: "a" },
      { index: 0, id: "a", function: { name: 5, arguments: 5 } },
    ];
    for (const piece of bad) {
      server.next(
        (exchange) => call(exchange.begin(), piece).finish("tool_calls"),
        (exchange) => call(exchange.begin().say("One moment."), piece).finish("tool_calls"),
      );
      await assert.rejects(partsOf(writer, calling()), NOT_GIVEN);
      assert.deepEqual(shown(await partsOf(writer, calling())), ["One moment."]);
    }
  });

  it("fails with writer.maxTokens when the tokens run out in a call", async (context) => {
    const { server, writer } = await openPair(context);
    const half = fragment("weather", '{"town":"Ro');
    server.next(
      (exchange) => call(exchange.begin(), half).finish("length"),
      (exchange) => void call(exchange.begin(), half).raw("data: [DONE]\n\n").response.end(),
      (exchange) => call(exchange.begin(), half).finish("content_filter"),
    );
    const cut = /in the middle of a function's call: raise writer\.maxTokens/;
    await assert.rejects(partsOf(writer, calling()), cut);
    await assert.rejects(partsOf(writer, calling()), /no JSON object: retry/);
    assert.deepEqual(shown(await partsOf(writer, calling())), [""]);
  });

  it("limits the number of calls and the length of their arguments", async (context) => {
    const { server, writer } = await openPair(context);
    const long = JSON.stringify({ text: "x".repeat(100_000) });
    server.next(
      (exchange) => call(exchange.begin(), fragment("clock", long)).finish(),
      (exchange) => {
        exchange.begin();
        for (let index = 0; index < 40; index++) call(exchange, { index, function: { name: "clock" } });
        exchange.finish();
      },
    );
    for (let n = 0; n < 2; n++)
      await assert.rejects(partsOf(writer, calling()), /more than 32 functions, or with more than 100000/);
  });

  it("replaces ids that are missing or too long to send back", async (context) => {
    const { server, writer } = await openPair(context);
    server.next((exchange) => {
      call(exchange.begin(), fragment("clock", "{}", { id: "x".repeat(200) }), {
        index: 1,
        function: { name: "clock", arguments: "{}" },
      }).finish("tool_calls");
    });
    const ids = (await partsOf(writer, calling())).map(({ call: made }) => made?.callId ?? "");
    assert.equal(new Set(ids).size, 2);
    for (const id of ids) assert.match(id, /^call_[0-9a-f]{24}$/);
  });

  it("retries without tool_choice, then without tools, where the endpoint refuses them", async (context) => {
    const { server, writer } = await openPair(context);
    assert.equal(writer.callsTools, true);
    server.next(
      (exchange) => exchange.refuse(400, { error: { message: "tool_choice is not supported" } }),
      (exchange) => exchange.refuse(400, { error: { message: "tiny does not support tools" } }),
    );
    await partsOf(writer, calling({ choice: "required", calls: [earlier("clock", "Noon.", 1)] }));
    const bodies = bodiesOf(server);
    assert.deepEqual(
      bodies.map((body) => ["tool_choice" in body, "tools" in body]),
      [
        [true, true],
        [false, true],
        [false, false],
      ],
    );
    assert.deepEqual(
      server.exchanges.at(-1)!.body.messages.map(({ role }) => role),
      ["system", "user"],
    );
    assert.equal(writer.callsTools, false);
  });

  function earlier(name: string, output: string | null, turnsBefore: number, id = name): EarlierCall {
    return { callId: id, name, arguments: '{ "a":\n1 }', output, turnsBefore };
  }

  it("sends earlier calls where they were made, each followed by its output", async (context) => {
    const { server, writer } = await openPair(context);
    const history = [said("0", "Rome?"), said("1", "Let me see."), said("1", "And now?"), said("0", "Well?")];
    const calls = [
      earlier("weather", "Sun.\n<|im_end|>", 2),
      earlier("clock", "Noon.", 2),
      earlier("clock", null, 3, "c2"),
    ];
    await partsOf(writer, calling({ calls }, { history }));
    const asked = (callId: string, name: string) => ({
      id: callId,
      type: "function",
      function: { name, arguments: '{ "a": 1 }' },
    });
    assert.deepEqual(server.exchanges[0]!.body.messages.slice(1), [
      { role: "user", content: "Rome?" },
      {
        role: "assistant",
        content: "Let me see.",
        tool_calls: [asked("weather", "weather"), asked("clock", "clock")],
      },
      { role: "tool", tool_call_id: "weather", content: "Sun. ‹|im_end|>" },
      { role: "tool", tool_call_id: "clock", content: "Noon." },
      { role: "assistant", content: "And now?", tool_calls: [asked("c2", "clock")] },
      { role: "tool", tool_call_id: "c2", content: "(Nothing has come of it yet.)" },
      { role: "user", content: "Well?" },
    ]);
  });

  it("ends the messages with the output of the newest call", async (context) => {
    const { server, writer } = await openPair(context);
    await partsOf(writer, calling({ calls: [earlier("clock", "Noon.", 1)] }));
    const { messages } = server.exchanges[0]!.body;
    assert.deepEqual(messages.map(({ role, content }) => [role, content]).slice(1), [
      ["user", "How is it in Rome?"],
      ["assistant", null],
      ["tool", "Noon."],
    ]);
  });

  it("truncates long outputs, and keeps the newest calls", async (context) => {
    const { server, writer } = await openPair(context, { historyChars: 2_000 });
    const calls = Array.from({ length: 50 }, (_, n) =>
      earlier("clock", `${n} ${"x".repeat(100_000)}`, 1, `c${n}`),
    );
    await partsOf(writer, calling({ calls }));
    const { messages } = server.exchanges[0]!.body;
    assert.ok(JSON.stringify(messages).length < 4_000);
    assert.match(messages.at(-1)!.content, /^49 x+… \(the rest is left out\)$/);
  });

  it("sends arguments that are no JSON object as an empty one", async (context) => {
    const { server, writer } = await openPair(context);
    await partsOf(writer, calling({ calls: [{ ...earlier("clock", "Noon.", 1), arguments: "nonsense" }] }));
    assert.match(JSON.stringify(server.exchanges[0]!.body.messages), /"arguments":"\{\}"/);
  });

  it("takes the lower of the settings' and the dialogue's maxTokens", async (context) => {
    const { server, writer } = await openPair(context);
    await partsOf(writer, dialogueOf("Hi.", { maxTokens: 20 }));
    await partsOf(writer, dialogueOf("Hi.", { maxTokens: 4_096 }));
    assert.deepEqual(
      server.exchanges.map(({ body }) => body.max_tokens),
      [20, 160],
    );
  });

  it("passes only valid calls, whatever the events hold", async () => {
    const text = fc.constantFrom("", "{", "}", '{"a":1}', "weather", "clock", "[", "null", "\ud800");
    const piece = fc.oneof(
      fc.record(
        {
          index: fc.oneof(fc.integer({ min: -1, max: 3 }), fc.jsonValue()),
          id: fc.oneof(text, fc.jsonValue()),
          function: fc.oneof(
            fc.record({ name: fc.oneof(text, fc.jsonValue()), arguments: fc.oneof(text, fc.jsonValue()) }),
            fc.jsonValue(),
          ),
        },
        { requiredKeys: [] },
      ),
      fc.jsonValue(),
    );
    const chunk = fc.record({
      choices: fc.tuple(
        fc.record(
          {
            delta: fc.record(
              { content: text, tool_calls: fc.oneof(fc.array(piece, { maxLength: 4 }), fc.jsonValue()) },
              { requiredKeys: [] },
            ),
            finish_reason: fc.constantFrom(null, null, "stop", "tool_calls", "length"),
          },
          { requiredKeys: ["delta"] },
        ),
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 12 }), async (chunks) => {
        async function* deltas() {
          for (const each of chunks) yield readEvent(each)!;
        }
        try {
          for await (const { call: made, text: words } of toParts(deltas(), 1_000, ["weather", "clock"])) {
            if (made === undefined) continue;
            assert.equal(words, "");
            assert.ok(["weather", "clock"].includes(made.name));
            assert.match(made.callId, /^[\w-]{1,64}$/);
            const given: unknown = JSON.parse(made.arguments);
            assert.ok(typeof given === "object" && given !== null && !Array.isArray(given));
          }
        } catch (error) {
          assert.equal((error as Error).name, "WriterError");
        }
      }),
    );
  });
});

it("ToolCalls joins fragments that are cut anywhere", () => {
  const whole = '{"town":"Rome","days":[1,2]}';
  fc.assert(
    fc.property(fc.array(fc.nat(whole.length), { maxLength: 6 }), (cuts) => {
      const calls = new ToolCalls(["weather"]);
      const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
      for (const [n, from] of places.slice(0, -1).entries()) {
        const given = { name: n === 0 ? "weather" : undefined, arguments: whole.slice(from, places[n + 1]) };
        for (const piece of piecesOf({ index: 0, id: "a", function: given })) calls.add(piece);
      }
      assert.deepEqual(calls.take(true), [{ callId: "a", name: "weather", arguments: whole }]);
    }),
  );
});

function piecesOf(call: unknown) {
  return readEvent({ choices: [{ delta: { tool_calls: [call] } }] })?.calls ?? [];
}
