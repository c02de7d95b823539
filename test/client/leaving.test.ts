import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { Antiphon } from "../../src/client/antiphon.ts";
import { until, within } from "../waiting.ts";
import {
  END,
  FRAME,
  failing,
  META,
  type OddServer,
  silent,
  startOddServer,
  streaming,
} from "./odd-server.ts";

const REQUEST = { conversation: [{ text: "Hi." }] };
const forever = streaming(META + FRAME, () => {});

const clientOf = ({ url }: OddServer) => new Antiphon({ baseUrl: url });
const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

/** Nothing of a call is left: no connection, no listener on its caller's signal, no timer of the client's. */
async function nothingIsLeft(server: OddServer, signal: AbortSignal, timersBefore: number): Promise<void> {
  await until("the connection to be closed", () => server.sockets.size === 0);
  assert.equal(getEventListeners(signal, "abort").length, 0);
  assert.ok(timers() <= timersBefore, "a timer is left");
}

async function read(antiphon: Antiphon, signal: AbortSignal, onEvent = () => {}): Promise<void> {
  for await (const _event of antiphon.stream(REQUEST, { signal })) onEvent();
}

test("a call that is aborted before it begins asks for nothing", async () => {
  await using server = await startOddServer(silent);
  const signal = AbortSignal.abort(new Error("enough"));
  await assert.rejects(read(clientOf(server), signal), /enough/);
  await assert.rejects(clientOf(server).models({ signal }), /enough/);
  assert.equal(server.asked.length, 0);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

for (const [phase, answer] of [
  ["it waits for an answer", silent],
  ["its answer comes", forever],
] as const) {
  test(`a call that is aborted while ${phase} closes its connection and leaves nothing`, async () => {
    await using server = await startOddServer(answer);
    const antiphon = clientOf(server);
    for (const call of [
      (signal: AbortSignal) => read(antiphon, signal),
      (signal: AbortSignal) => antiphon.tts({ text: "Hi." }, { signal }),
      (signal: AbortSignal) => antiphon.speech({ model: "tts-1", input: "Hi." }, { signal }),
      (signal: AbortSignal) => antiphon.transcribe({ file: new Uint8Array(9) }, { signal }),
    ]) {
      const before = timers();
      const asked = server.asked.length;
      const leaving = new AbortController();
      const over = assert.rejects(call(leaving.signal), /enough/);
      await until("the request", () => server.asked.length > asked);
      leaving.abort(new Error("enough"));
      await within("the call", over);
      await nothingIsLeft(server, leaving.signal, before);
    }
  });
}

test("a call that is aborted between two attempts makes no other, and leaves nothing", async () => {
  await using server = await startOddServer(failing(429, "rate_limit_exceeded", { "Retry-After": "59" }));
  const before = timers();
  const leaving = new AbortController();
  const over = assert.rejects(clientOf(server).models({ signal: leaving.signal }), /enough/);
  await until("the wait for another attempt", () => timers() > before && server.asked.length === 1);
  leaving.abort(new Error("enough"));
  await within("the call", over);
  assert.equal(getEventListeners(leaving.signal, "abort").length, 0);
  assert.equal(server.asked.length, 1);
});

test("leaving the loop closes the connection and leaves nothing, whether at an event or while it waits for one", async () => {
  await using server = await startOddServer(forever);
  const antiphon = clientOf(server);
  const { signal } = new AbortController();
  const before = timers();
  for await (const { event } of antiphon.stream(REQUEST, { signal })) if (event === "audio") break;
  await nothingIsLeft(server, signal, before);

  const events = antiphon.stream(REQUEST, { signal });
  for (const name of ["meta", "audio"]) assert.equal((await events.next()).value?.event, name);
  const waiting = events.next();
  assert.deepEqual(await within("the end", events.return!()), { done: true, value: undefined });
  assert.deepEqual(await within("what was waited for", waiting), { done: true, value: undefined });
  await nothingIsLeft(server, signal, before);
});

test("a stream that nobody reads asks for nothing, and one that was read to its end leaves nothing", async () => {
  await using server = await startOddServer(streaming(META + FRAME + END));
  const { signal } = new AbortController();
  const before = timers();
  const unread = clientOf(server).stream(REQUEST, { signal });
  await unread.return!();
  assert.equal(server.asked.length, 0);
  await read(clientOf(server), signal);
  assert.equal(getEventListeners(signal, "abort").length, 0);
  assert.ok(timers() <= before + 1, "no more than the connection's own");
});
