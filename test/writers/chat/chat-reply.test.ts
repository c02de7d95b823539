import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { within } from "../../waiting.ts";
import { dialogueOf, never, replyOf } from "../dialogues.ts";
import { assertFails, openPair } from "./chat-pair.ts";
import { type Exchange, UPSTREAM_SECRET } from "./chat-server.ts";

const REPLY = "Café Zürich is nice. 你好, said Ann — “really?” Yes! 😀 And so on.";
const NO_CHAT = /not a chat completion: check writer\.baseUrl/;

describe("the stream of a chat endpoint", () => {
  it("may be cut into chunks anywhere, with any line end", async (context) => {
    const { server, writer } = await openPair(context);
    for (const lineEnd of ["\n", "\r\n", "\r"]) {
      for (const size of [1, 2, 3, 7, 1_000]) {
        server.next(inPieces(size, lineEnd));
        assert.equal(await replyOf(writer, dialogueOf("Hi.")), REPLY, `chunks of ${size}`);
      }
    }
  });

  it("may hold comments, roles, empty content and unknown fields", async (context) => {
    const { server, writer } = await openPair(context);
    server.next((exchange) => {
      exchange.begin().raw(": waiting\n\n:\n\nretry: 100\n\nid: 7\nevent: message\n");
      exchange.send({ choices: [{ index: 0, delta: { role: "assistant" } }] });
      exchange.send({ choices: [{ index: 0, delta: { role: "assistant", content: null } }] });
      exchange.send({ choices: [{ index: 0, delta: { content: "" }, finish_reason: "" }] });
      exchange.send({ choices: [] });
      for (const event of [{}, null, 5, [], { choices: [null] }, { choices: [{ delta: 5 }] }])
        exchange.send(event);
      exchange.say("Hello ").raw(": still here\n\n").say("there.").finish();
    });
    assert.equal(await replyOf(writer, dialogueOf("Hi.")), "Hello there.");
  });

  it("may end with finish_reason or [DONE] alone", async (context) => {
    const { server, writer } = await openPair(context);
    const stop = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
    server.next(
      (exchange) => void exchange.begin().say("All good. Bye now").send(stop).response.end(),
      (exchange) => void exchange.begin().say("All good. Bye now").raw("data: [DONE]\n\n").response.end(),
    );
    for (let n = 0; n < 2; n++) assert.equal(await replyOf(writer, dialogueOf("Hi.")), "All good. Bye now");
  });

  it("that ends early passes what arrived, then fails", async (context) => {
    const { server, writer } = await openPair(context);
    server.next((exchange) => void exchange.begin().say("It is open until six").response.end());
    const spoken: string[] = [];
    await assert.rejects(async () => {
      for await (const { text } of writer.write(dialogueOf("Hi."), never())) spoken.push(text);
    }, /WriterError: the writer's endpoint broke off the connection/);
    assert.deepEqual(spoken, ["It is open until six"]);
    assert.equal(server.exchanges.length, 1);
  });

  it("that stays open after the last word ends after lingerMs", async (context) => {
    const patient = { firstTokenTimeoutMs: 120_000, totalTimeoutMs: 120_000 };
    const { server, writer } = await openPair(context, { lingerMs: 20, ...patient });
    server.next((exchange) => {
      exchange.begin().say("All good. Bye.");
      exchange.send({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }).raw("data: [DONE]\n\n");
    });
    const reply = within("the reply's end", replyOf(writer, dialogueOf("Hi.")), { deadlineMs: 15_000 });
    assert.equal(await reply, "All good. Bye.");
    await server.idle();
  });

  it("may be one JSON answer", async (context) => {
    const { server, writer } = await openPair(context);
    const choices = [
      { index: 0, message: { role: "assistant", content: "Hi.\nAll good?" }, finish_reason: "stop" },
    ];
    server.next((exchange) => exchange.refuse(200, JSON.stringify({ choices }, null, 2)));
    assert.equal(await replyOf(writer, dialogueOf("Hi.")), "Hi. All good?");
  });

  for (const [what, answer] of Object.entries<(exchange: Exchange) => void>({
    "a web page": (exchange) =>
      exchange.refuse(200, `<html>${UPSTREAM_SECRET}</html>`, { "content-type": "text/html" }),
    "a page that claims to be a stream": (exchange) =>
      void exchange.begin().raw(`<p>${UPSTREAM_SECRET}</p>`).response.end(),
    "nothing at all": (exchange) => void exchange.begin().response.end(),
    "an empty answer": (exchange) => void exchange.response.writeHead(204).end(),
    "only [DONE]": (exchange) => void exchange.begin().raw("data: [DONE]\n\n").response.end(),
    "events that are no JSON": (exchange) =>
      void exchange.begin().raw(`data: {${UPSTREAM_SECRET}\n\n`).response.end(),
    "JSON that is cut": (exchange) => exchange.refuse(200, `{"choices": [{"${UPSTREAM_SECRET}`),
    "JSON of another kind": (exchange) => exchange.refuse(200, { hello: UPSTREAM_SECRET }),
    "a line without end": (exchange) => void exchange.begin().raw("x".repeat(2_000_000)),
  }))
    it(`that is ${what} fails as no chat completion, without a retry`, async (context) => {
      const { server, writer } = await openPair(context);
      server.next(answer);
      const error = await assertFails(writer, NO_CHAT);
      assert.equal(error.retryAfterMs, null);
      assert.equal(server.exchanges.length, 1);
      await server.idle();
    });

  it("fails on invalid JSON after words", async (context) => {
    const { server, writer } = await openPair(context);
    server.next((exchange) => void exchange.begin().say("Hello. ").raw("data: }{\n\n"));
    await assertFails(writer, NO_CHAT);
  });

  for (const [what, event] of Object.entries({
    "as hosts do": { error: { message: UPSTREAM_SECRET, type: "server_error", code: null } },
    "as a string": { error: UPSTREAM_SECRET },
    "as vLLM did": { object: "error", message: UPSTREAM_SECRET, code: 500 },
    "as FastAPI does": { detail: UPSTREAM_SECRET },
  }))
    it(`with an error event, ${what}, is retried before the first word and fails after it`, async (context) => {
      const { server, writer } = await openPair(context);
      const fail = (exchange: Exchange): void => void exchange.begin().send(event).response.end();
      server.next(fail, fail);
      assert.match(await replyOf(writer, dialogueOf("Hi.")), /You said/);
      assert.equal(server.exchanges.length, 3);
      server.next((exchange) => void exchange.begin().say("One. Two").send(event).response.end());
      const error = await assertFails(writer, /endpoint failed/);
      assert.ok(error.retryAfterMs !== null);
      assert.equal(server.exchanges.length, 4);
    });

  it("with an error event of a permanent status is not retried", async (context) => {
    const { server, writer } = await openPair(context);
    const error = { message: UPSTREAM_SECRET, code: 401 };
    server.next((exchange) => void exchange.begin().send({ error }).response.end());
    await assertFails(writer, /refused the key \(401\)/);
    assert.equal(server.exchanges.length, 1);
  });

  it("whose connection is reset passes what arrived, then fails", async (context) => {
    const { server, writer } = await openPair(context);
    const events = new EventEmitter();
    server.next(async (exchange) => {
      exchange.begin().say("One is here. Two is");
      await within("the word to cut", once(events, "cut"));
      exchange.cut();
    });
    const iterator = writer.write(dialogueOf("Hi."), never())[Symbol.asyncIterator]();
    assert.equal((await iterator.next()).value?.text, "One is here.");
    events.emit("cut");
    assert.equal((await iterator.next()).value?.text, "Two is");
    await assert.rejects(iterator.next(), /WriterError: the writer's endpoint broke off the connection/);
    assert.equal(server.exchanges.length, 1);
  });
});

function inPieces(size: number, lineEnd: string): (exchange: Exchange) => Promise<void> {
  return async (exchange) => {
    const words = REPLY.match(/\S+\s*/g) ?? [];
    const events = [
      { choices: [{ delta: { role: "assistant" } }] },
      ...words.map((content) => ({ choices: [{ index: 0, delta: { content } }] })),
      { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
    ].map((event) => `data:${JSON.stringify(event)}${lineEnd}${lineEnd}`);
    const bytes = Buffer.from(`${events.join(`: hm${lineEnd}${lineEnd}`)}data: [DONE]${lineEnd}${lineEnd}`);
    exchange.begin();
    exchange.response.socket?.setNoDelay(true);
    for (let start = 0; start < bytes.length; start += size) {
      exchange.raw(bytes.subarray(start, start + size));
      if (start % (size * 8) === 0) await turn();
    }
    exchange.response.end();
  };
}
