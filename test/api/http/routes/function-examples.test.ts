import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { launch } from "../../../children.ts";
import { TOP, temporaryFolder } from "../../../e2e/folders.ts";
import { finished, newcomersEnvironment } from "../../../e2e/program.ts";
import { freePort } from "../../../free-port.ts";
import { ScriptedRecogniser, segmentOf } from "../../../recognition/scripted-recogniser.ts";
import { until, within } from "../../../waiting.ts";
import { ChatServer, type Exchange } from "../../../writers/chat/chat-server.ts";
import { spokenSentence, TwilioCall } from "../../realtime/twilio-call.ts";
import { writerAt } from "../chat-writer.ts";
import { startTestServer, type TestServer } from "../start.ts";

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

  /** Starts an example as its first lines describe. */
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

  /** The function outputs in the endpoint's last request. */
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
