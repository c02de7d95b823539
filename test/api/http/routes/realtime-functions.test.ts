import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { JsonText } from "../../../../src/contract/json/read-json.ts";
import type { ClientEvent } from "../../../../src/contract/realtime/client-events.ts";
import type { Usage } from "../../../../src/contract/replies.ts";
import { launch } from "../../../children.ts";
import { TOP, temporaryFolder } from "../../../e2e/folders.ts";
import { finished, newcomersEnvironment } from "../../../e2e/program.ts";
import { freePort } from "../../../free-port.ts";
import { ScriptedRecogniser, segmentOf } from "../../../recognition/scripted-recogniser.ts";
import { until, within } from "../../../waiting.ts";
import { ChatServer, type Exchange } from "../../../writers/chat/chat-server.ts";
import { ScriptedDetector } from "../../realtime/scripted-detector.ts";
import { spokenSentence, TwilioCall } from "../../realtime/twilio-call.ts";
import { writerAt } from "../chat-writer.ts";
import { startTestServer, type TestServer } from "../start.ts";

describe("A realtime session with functions", () => {
  type Told = Readonly<Record<string, unknown>> & { readonly type: string };

  /** A client's end of a session. */
  class Client {
    readonly told: Told[] = [];
    readonly #socket: WebSocket;

    constructor({ url, key }: TestServer) {
      const address = `${url.replace("http", "ws")}/v1/realtime`;
      this.#socket = new WebSocket(address, { headers: { Authorization: `Bearer ${key}` } });
      this.#socket.on("message", (data) => this.told.push(JSON.parse(`${data}`)));
    }

    send(...events: readonly ClientEvent[]): void {
      for (const event of events) this.#socket.send(JSON.stringify(event));
    }

    /** What is told of that kind, the `index`-th of it. */
    async event(type: string, index = 0): Promise<Told> {
      const those = () => this.told.filter((each) => each.type === type);
      await until(`${type}, number ${index}`, () => those().length > index);
      return those()[index]!;
    }

    /** The types of what is told from the `index`-th reply's beginning to its end; of many in a row the first. */
    async reply(index = 0): Promise<string[]> {
      const done = await this.event("response.done", index);
      const begun = await this.event("response.created", index);
      const types = this.told
        .slice(this.told.indexOf(begun), this.told.indexOf(done) + 1)
        .map(({ type }) => type.replace("response.", ""));
      return types.filter((type, n) => !type.endsWith(".delta") || types.indexOf(type) === n);
    }

    async close(): Promise<void> {
      const closed = new Promise((resolve) => this.#socket.once("close", resolve));
      this.#socket.close();
      await within("the session to close", closed);
    }
  }

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
    const given = { name: "weather", arguments: JSON.stringify({ town }) };
    const tool_calls = [{ index: 0, id, type: "function", function: given }];
    return exchange.send({ choices: [{ index: 0, delta: { tool_calls }, finish_reason: null }] });
  }

  let endpoint: ChatServer;
  let server: TestServer;
  let client: Client;

  before(async () => {
    endpoint = await ChatServer.open();
    server = await startTestServer({ writer: writerAt(endpoint), detector: new ScriptedDetector() });
  });

  after(async () => {
    await server.stop();
    await endpoint.close();
  });

  async function session(work: () => Promise<void>): Promise<void> {
    client = new Client(server);
    try {
      await client.event("session.created");
      await work();
    } finally {
      await client.close();
    }
  }

  async function usage(): Promise<Usage> {
    return (await server.usage()) as Usage;
  }

  test("calls a function, sends its output to the writer and speaks the answer", () =>
    session(async () => {
      client.send({ type: "session.update", session: { tools: [WEATHER], tool_choice: "auto" } });
      const { session: told } = await client.event("session.updated");
      assert.deepEqual((told as { tools: unknown }).tools, [WEATHER]);
      const first = endpoint.exchanges.length;
      endpoint.next(
        (exchange) => calls(exchange.begin().say("Let me see."), "call_1", "Rome").finish("tool_calls"),
        (exchange) => exchange.begin().say("It is sunny.").finish(),
      );
      client.send(ASKED, { type: "response.create" });
      assert.deepEqual(await client.reply(), ["created", ...SPOKEN, ...CALLED, "done"]);
      const { call_id, name, arguments: given } = await client.event("response.function_call_arguments.done");
      assert.deepEqual([call_id, name, given], ["call_1", "weather", '{"town":"Rome"}']);
      const { response } = await client.event("response.done");
      const { status, usage: used } = response as { status: string; usage: { input_tokens: number } };
      assert.deepEqual([status, used.input_tokens], ["completed", 12]);
      client.send(
        {
          type: "conversation.item.create",
          item: { type: "function_call_output", call_id: "call_1", output: '{"sky":"clear"}' },
        },
        { type: "response.create" },
      );
      assert.deepEqual(await client.reply(1), ["created", ...SPOKEN, "done"]);
      const { transcript } = await client.event("response.output_audio_transcript.done", 1);
      assert.equal(transcript, "It is sunny.");
      const { messages } = endpoint.exchanges[first + 1]!.body;
      assert.deepEqual(messages.slice(1), [
        { role: "user", content: "How is it in Rome?" },
        {
          role: "assistant",
          content: "Let me see.",
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "weather", arguments: '{"town":"Rome"}' } },
          ],
        },
        { role: "tool", tool_call_id: "call_1", content: '{"sky":"clear"}' },
      ]);
    }));

  test("meters a reply of calls alone, without audio", () =>
    session(async () => {
      const before = await usage();
      endpoint.next((exchange) => calls(exchange.begin(), "call_2", "Oslo").finish("tool_calls"));
      client.send(ASKED, {
        type: "response.create",
        response: { tools: [WEATHER], tool_choice: "required" },
      });
      assert.deepEqual(await client.reply(), ["created", ...CALLED, "done"]);
      const { response } = await client.event("response.done");
      assert.equal((response as { status: string }).status, "completed");
      assert.equal((endpoint.exchanges.at(-1)!.body as { tool_choice?: unknown }).tool_choice, "required");
      const now = await usage();
      assert.equal(now.input_chars - before.input_chars, "How is it in Rome?".length);
      assert.equal(now.output_audio_seconds, before.output_audio_seconds);
    }));

  test("writes and meters a text reply without speaking it", () =>
    session(async () => {
      const before = await usage();
      endpoint.next((exchange) => exchange.begin().say("One. Two.").finish());
      client.send(
        { type: "session.update", session: { output_modalities: ["text"], max_output_tokens: 50 } },
        ASKED,
        { type: "response.create" },
      );
      assert.deepEqual(await client.reply(), [
        "created",
        ...ITEM,
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        ...ITEM_DONE,
        "done",
      ]);
      assert.equal((await client.event("response.output_text.done")).text, "One. Two.");
      assert.equal(endpoint.exchanges.at(-1)!.body.max_tokens, 50);
      const now = await usage();
      assert.equal(now.input_chars - before.input_chars, "How is it in Rome?".length);
      assert.equal(now.output_audio_seconds, before.output_audio_seconds);
    }));

  test("fails a reply with malformed calls and goes on", () =>
    session(async () => {
      endpoint.next(
        (exchange) => {
          const tool_calls = [{ index: 0, id: "a", function: { name: "format_disk", arguments: "{}" } }];
          exchange
            .begin()
            .send({ choices: [{ delta: { tool_calls } }] })
            .finish("tool_calls");
        },
        (exchange) => exchange.begin().say("Here I am.").finish(),
      );
      const create: ClientEvent = { type: "response.create", response: { tools: [WEATHER] } };
      client.send(ASKED, create);
      await client.reply();
      client.send(create);
      await client.reply(1);
      const ended = client.told.filter(({ type }) => type === "response.done");
      assert.deepEqual(
        ended.map(({ response }) => (response as { status: string }).status),
        ["failed", "completed"],
      );
    }));

  test("names the field of an output, function or instruction that is too long", () =>
    session(async () => {
      const long = "x".repeat(200_000);
      client.send(
        {
          type: "conversation.item.create",
          event_id: "mine",
          item: { type: "function_call_output", call_id: "call_1", output: long },
        },
        {
          type: "session.update",
          session: { tools: [{ ...WEATHER, parameters: new JsonText(JSON.stringify({ text: long })) }] },
        },
        { type: "session.update", session: { instructions: long } },
        { type: "response.create", response: { tool_choice: "nothing like it" } },
      );
      await client.event("error", 3);
      const errors = client.told.filter(({ type }) => type === "error").map(({ error }) => error);
      assert.deepEqual(
        (errors as { param: string }[]).map(({ param }) => param),
        ["item.output", "session.tools", "session.instructions", "response.tool_choice"],
      );
      assert.equal((errors[0] as { event_id: string }).event_id, "mine");
    }));

  test("reports no functions when its writer cannot call any", async () => {
    const { ScriptedWriter } = await import("../../../writers/scripted-writer.ts");
    const other = await startTestServer({
      writer: new ScriptedWriter(["Hello there."]),
      detector: new ScriptedDetector(),
    });
    const talker = new Client(other);
    try {
      await talker.event("session.created");
      talker.send({ type: "session.update", session: { tools: [WEATHER], tool_choice: "required" } }, ASKED, {
        type: "response.create",
      });
      const { session: told } = await talker.event("session.updated");
      const { tools, tool_choice } = told as { tools: unknown; tool_choice: unknown };
      assert.deepEqual([tools, tool_choice], [[], "none"]);
      assert.deepEqual(await talker.reply(), ["created", ...SPOKEN, "done"]);
    } finally {
      await talker.close();
      await other.stop();
    }
  });
});

describe("An example with functions", () => {
  let endpoint: ChatServer;
  let server: TestServer;

  before(async () => {
    endpoint = await ChatServer.open();
    const recogniser = new ScriptedRecogniser([segmentOf("When are you open?", 0)]);
    server = await startTestServer({ writer: writerAt(endpoint), recogniser });
  });

  after(async () => {
    await server.stop();
    await endpoint.close();
  });

  /** Starts an example as its first lines say. */
  function start(name: string, more: Record<string, string> = {}) {
    const env = { ...newcomersEnvironment(), BASE_URL: server.url, ANTIPHON_KEY: server.key, ...more };
    return launch(process.execPath, [join(TOP, "examples", name)], { cwd: temporaryFolder(), env });
  }

  function calls(exchange: Exchange, ...names: readonly string[]): void {
    const tool_calls = names.map((name, index) => ({
      index,
      id: `call_${index}`,
      type: "function",
      function: { name, arguments: '{"town":"Rome"}' },
    }));
    exchange.begin().send({ choices: [{ index: 0, delta: { tool_calls }, finish_reason: null }] });
    exchange.finish("tool_calls");
  }

  /** What the endpoint was told of functions the last time. */
  const outputs = () =>
    endpoint.exchanges
      .at(-1)!
      .body.messages.filter(({ role }) => role === "tool")
      .map(({ content }) => JSON.parse(content));

  test("runs the functions of a reply with OpenAI's package and asks once for the answer", async () => {
    const before = endpoint.exchanges.length;
    endpoint.next(
      (exchange) => calls(exchange, "weather", "clock"),
      (exchange) => exchange.begin().say("It is clear, and five past two.").finish(),
    );
    const { code, stdout, stderr } = await within("the example", finished(start("functions.js")));
    assert.equal(stderr, "");
    assert.equal(code, 0);
    assert.equal(stdout, "It is clear, and five past two.\n");
    assert.equal(endpoint.exchanges.length, before + 2);
    assert.deepEqual(outputs(), [
      { town: "Rome", sky: "clear", celsius: 24 },
      { town: "Rome", time: "14:05" },
    ]);
  });

  test("runs functions in a phone call, answers the caller and is interrupted", async () => {
    endpoint.next(
      (exchange) => calls(exchange, "opening_hours"),
      (exchange) =>
        exchange.begin().say("We are open until six, and tomorrow from seven on, as always.").finish(),
    );
    const port = await freePort();
    const child = start("phone-functions.js", { PORT: `${port}` });
    let problems = "";
    child.stderr!.on("data", (text) => {
      problems += text;
    });
    let caller: TwilioCall | null = null;
    await until("the example's port", async () => {
      caller = await TwilioCall.open(`http://127.0.0.1:${port}`).catch(() => null);
      return caller !== null;
    });
    const call = caller as unknown as TwilioCall;
    call.start({});
    const sessions = () => server.metric("realtime_sessions");
    await until("its session", async () => (await sessions()) === 1);
    const sentence = await spokenSentence();
    call.speak(sentence);
    call.beSilent(5);
    await call.upTo("mark", 5);
    assert.deepEqual(outputs(), [{ from: "7:00", to: "18:00" }]);
    call.returnMarks(3);
    call.speak(sentence);
    await call.upTo("clear");
    call.send({ event: "stop" });
    await call.upToClose();
    await until("the end of its session", async () => (await sessions()) === 0);
    assert.equal(problems, "");
    child.kill();
  });
});
