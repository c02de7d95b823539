import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Antiphon, type StreamEvent } from "../../src/client/antiphon.ts";
import { startTestServer, type TestServer } from "../http/start.ts";
import { pcmOf } from "../http/wire.ts";
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
  await until("the server to have nothing left", async () => (await server.metric("streams")) === 0);
});
