import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { after, before, test } from "node:test";
import { Antiphon, type StreamEvent } from "../../src/client/antiphon.ts";
import { startTestServer, type TestServer } from "../api/http/start.ts";
import { pcmOf } from "../api/http/wire.ts";
import { until } from "../waiting.ts";

let server: TestServer;
let antiphon: Antiphon;
before(async () => {
  server = await startTestServer();
  antiphon = new Antiphon({ baseUrl: server.url, apiKey: server.key });
});
after(() => server.stop());

const LONG = { conversation: [{ text: "word ".repeat(400) }], params: { temperature: 0 } };
const SHORT = { conversation: [{ text: "Hello there." }], params: { temperature: 0 } };

test("a stream gives meta, then every frame, then the end, and its samples are those of the whole reply", async () => {
  const events: StreamEvent[] = [];
  for await (const event of antiphon.stream(SHORT)) events.push(event);
  const names = events.map(({ event }) => event);
  assert.deepEqual(names, ["meta", ...names.slice(1, -1).map(() => "audio"), "end"]);
  const frames = events.flatMap((event) => (event.event === "audio" ? [event.pcm] : []));
  const whole = await antiphon.converse(SHORT);
  assert.deepEqual(
    Buffer.concat(frames.map(({ buffer }) => Buffer.from(buffer))),
    pcmOf(whole.reply.audio!.data_b64),
  );
});

test("leaving the loop ends the generation on the server", async () => {
  for await (const { event } of antiphon.stream(LONG)) if (event === "audio") break;
  await until("the server to have nothing left", async () => (await server.begun()) === 0);
});

test("a stream that was read to its end leaves its connection for others", async () => {
  const sockets = new Set<unknown>();
  const onRequest = (message: unknown) =>
    sockets.add((message as { request: { socket: unknown } }).request.socket);
  subscribe("http.server.request.start", onRequest);
  try {
    for (let calls = 0; calls < 8; calls++) {
      for await (const event of antiphon.stream(SHORT)) assert.ok(event);
    }
  } finally {
    unsubscribe("http.server.request.start", onRequest);
  }
  // The next call may begin before the last connection is free.
  assert.ok(sockets.size <= 2, `${sockets.size} connections`);
});
