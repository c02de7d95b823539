import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { within } from "../../waiting.ts";
import { dialogueOf, never, partsOf, replyOf } from "../dialogues.ts";
import { assertFails, openPair } from "./chat-pair.ts";

test("an endpoint that does not answer, or not with words, is given up, and not tried again", async (context) => {
  const { server, writer } = await openPair(context, { firstTokenTimeoutMs: 1_000 });
  server.next(
    () => {},
    (exchange) => void exchange.begin(),
    (exchange) =>
      void exchange
        .begin()
        .raw(": wait\n\n")
        .send({ choices: [{ delta: { role: "assistant" } }] }),
  );
  for (let i = 0; i < 3; i++) {
    const error = await assertFails(
      writer,
      /did not begin its reply within writer\.firstTokenTimeoutMs \(1000 ms\)/,
    );
    assert.ok(error.retryAfterMs !== null);
  }
  await server.idle();
  assert.equal(server.exchanges.length, 3);
});

test("a connection that does not come about is given up", async (context) => {
  const silent = createServer();
  const sockets: Socket[] = [];
  silent.on("connection", (socket) => sockets.push(socket.on("error", () => {})));
  await within("a port", once(silent.listen(0, "127.0.0.1"), "listening"));
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const baseUrl = `https://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
  const { writer } = await openPair(context, { baseUrl, firstTokenTimeoutMs: 400 });
  await assertFails(writer, /did not begin its reply within/);
});

test("the time to begin counts over all tries", async (context) => {
  const { server, writer } = await openPair(context, { firstTokenTimeoutMs: 400, retryDelaysMs: [20, 20] });
  server.next(
    (exchange) => exchange.refuse(503),
    () => {},
  );
  await assertFails(writer, /did not begin its reply within/);
  await server.idle();
});

test("an endpoint that falls silent in the middle is given up", async (context) => {
  const { server, writer } = await openPair(context, { firstTokenTimeoutMs: 400 });
  server.next((exchange) => void exchange.begin().say("One. Two"));
  await assertFails(
    writer,
    /fell silent in the middle of a reply for longer than writer\.firstTokenTimeoutMs/,
  );
  await server.idle();
});

test("a reply that never ends is given up", async (context) => {
  const { server, writer } = await openPair(context, { totalTimeoutMs: 500, maxTokens: 4_000 });
  server.next(async (exchange) => {
    exchange.begin();
    const closed = new AbortController();
    void exchange.closed.then(() => closed.abort());
    for (;;) {
      exchange.say("On. ");
      await sleep(10, undefined, { signal: closed.signal }).catch(() => {});
      if (closed.signal.aborted) return;
    }
  });
  await assertFails(writer, /took longer over a reply than writer\.totalTimeoutMs \(500 ms\)/);
  await server.idle();
});

test("a model that thinks for long is not silent", async (context) => {
  const { server, writer } = await openPair(context, { firstTokenTimeoutMs: 1_500 });
  server.next(async (exchange) => {
    exchange.begin();
    for (let i = 0; i < 8; i++) {
      exchange.send({ choices: [{ delta: { reasoning_content: "hm" } }] });
      await sleep(200);
    }
    exchange.say("Yes.").finish();
  });
  assert.equal(await replyOf(writer, dialogueOf("Hi.")), "Yes.");
});

test("time in which nobody reads does not count", async (context) => {
  const { server, writer } = await openPair(context);
  server.next((exchange) => exchange.begin().say("One. Two. Three.").finish());
  const texts: string[] = [];
  const now = performance.now.bind(performance);
  let awayMs = 0;
  context.mock.method(performance, "now", () => now() + awayMs);
  for await (const { text } of writer.write(dialogueOf("Hi."), never())) {
    texts.push(text);
    awayMs += 60_000;
  }
  assert.deepEqual(texts, ["One.", "Two.", "Three."]);
});

test("an abort ends the request, whatever it waits for", async (context) => {
  const { server, writer } = await openPair(context, { retryDelaysMs: [5_000] });
  const reason = new Error("gone");
  const cases = [
    () => {},
    (exchange: { begin(): unknown }) => void exchange.begin(),
    (exchange: { refuse(status: number): void }) => exchange.refuse(503),
  ];
  for (const [index, answer] of cases.entries()) {
    server.next(answer);
    const controller = new AbortController();
    const stopped = assert.rejects(
      partsOf(writer, dialogueOf("Hi."), controller.signal),
      (error) => error === reason,
    );
    await server.asked(index);
    await sleep(20);
    controller.abort(reason);
    await stopped;
  }
  await server.idle();
  assert.equal(server.exchanges.length, cases.length);
});

test("an abort while many sentences lie ready throws before the next one is given", async (context) => {
  const { server, writer } = await openPair(context);
  server.next((exchange) => exchange.begin().say("One. Two. Three. Four. Five.").finish());
  const controller = new AbortController();
  const reason = new Error("gone");
  const iterator = writer.write(dialogueOf("Hi."), controller.signal)[Symbol.asyncIterator]();
  await iterator.next();
  controller.abort(reason);
  await assert.rejects(iterator.next(), (error) => error === reason);
  assert.equal((await iterator.next()).done, true);
});

test("nothing of a call stays on a signal that outlives it", async (context) => {
  const { writer } = await openPair(context);
  const signal = never();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listeners++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listeners--;
    removeEventListener.apply(signal, args);
  };
  await partsOf(writer, dialogueOf("Hi."), signal);
  for await (const _ of writer.write(dialogueOf("Hi."), signal)) break;
  assert.equal(listeners, 0);
});
