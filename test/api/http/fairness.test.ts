import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { WriterError } from "../../../src/core/writer.ts";
import { until } from "../../waiting.ts";
import { ScriptedWriter } from "../../writers/scripted-writer.ts";
import { openRaw, type RawSocket, rawRequest } from "./raw-socket.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { readEvents } from "./wire.ts";

const LONG = { conversation: [{ text: "word ".repeat(1_500) }], params: { max_new_tokens: 2_048 } };

let server: TestServer;
afterEach(() => server?.stop());

test("a key that reads nothing of its streams does not keep another from being spoken for", async () => {
  server = await startTestServer({ flags: { concurrency: "2", shutdownGraceMs: "100" } });
  const idle = [await openRaw(server, { isIdle: true }), await openRaw(server, { isIdle: true })];
  for (const { socket } of idle) socket.write(rawRequest("/v1/converse/stream", server.key, LONG));
  await until("both streams to begin", async () => (await server.begun()) === 2);
  const other = await server.another();
  for (let i = 0; i < 3; i++) {
    const reply = await server.post("/v1/tts", { text: "Me too." }, other.auth);
    assert.equal(reply.status, 200);
  }
  for (const { socket } of idle) socket.destroy();
});

test("a stream that gave its place up goes on where it was, and says every sample", async () => {
  server = await startTestServer({ flags: { concurrency: "1" } });
  const still = { ...LONG, params: { ...LONG.params, temperature: 0 } };
  const alone = await (await server.post("/v1/converse/stream", still)).text();
  const { socket, received } = await openRaw(server, { isIdle: true });
  socket.write(rawRequest("/v1/converse/stream", server.key, still, { Connection: "close" }));
  await until("the stream to begin", async () => (await server.begun()) === 1);
  const other = await server.another();
  assert.equal((await server.post("/v1/tts", { text: "Me." }, other.auth)).status, 200);
  let text = received();
  socket.on("data", (chunk: string) => {
    text += chunk;
  });
  socket.resume();
  const last = 'event: end\ndata: {"text"';
  await until("its last event", () => text.includes(last) && text.endsWith("0\r\n\r\n"));
  const samples = (stream: string) => [...stream.matchAll(/"pcm_b64":"([^"]+)"/g)].map(([, pcm]) => pcm);
  assert.deepEqual(samples(text), samples(alone));
  socket.destroy();
});

test("streams that nobody reads are ended where a third key has no room, the longest idle first", async () => {
  server = await startTestServer({ flags: { concurrency: "1", shutdownGraceMs: "100" } });
  const idle: RawSocket[] = [];
  for (let i = 0; i < 2; i++) {
    const raw = await openRaw(server, { isIdle: true });
    idle.push(raw);
    const { key } = await server.another();
    raw.socket.write(rawRequest("/v1/converse/stream", key, LONG));
    await until("the stream to be open", async () => (await server.begun()) === i + 1);
  }
  assert.equal((await server.post("/v1/tts", { text: "Me." })).status, 200);
  const ended = 'requests_ended_total{route="/v1/converse/stream",end="failed",type="inference_error"}';
  assert.equal(await server.metric(ended), 1);
  for (const { socket } of idle) socket.destroy();
});

test("a turn whose words nobody listens to does not keep others from being written", async () => {
  const sentences = Array.from({ length: 300 }, (_, index) => `This is sentence number ${index} of many.`);
  const writer = new ScriptedWriter(sentences);
  const flags = { "writer.concurrency": "1", "writer.keyConcurrency": "1", shutdownGraceMs: "100" };
  server = await startTestServer({ writer, flags });
  const { socket } = await openRaw(server, { isIdle: true });
  const body = { conversation: [{ speaker: "0" }], params: { max_new_tokens: 2_048 } };
  socket.write(rawRequest("/v1/converse/stream", server.key, body));
  await until("it to be begun", async () => (await server.begun()) === 1);
  await until("all of it to be written", async () => (await server.metric("turns_writing")) === 0);
  assert.equal(await server.begun(), 1);
  socket.destroy();
});

test("many requests of one key are refused with 429 where another key still finds room", async () => {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  server = await startTestServer({
    flags: { concurrency: "1", queueDepth: "4", keyQueueDepth: "2" },
    tone: { beforeFrame: () => held },
  });
  const greedy = Array.from({ length: 6 }, () => server.post("/v1/tts", { text: "Me." }));
  await until("two requests to wait", async () => (await server.metric("queue_depth")) === 2);
  const other = await server.another();
  const modest = server.post("/v1/tts", { text: "Me." }, other.auth);
  await until("a third to wait", async () => (await server.metric("queue_depth")) === 3);
  letGo();
  const statuses = (await Promise.all(greedy)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, 200, 200, 429, 429, 429]);
  assert.equal((await modest).status, 200);
  const refused = (await Promise.all(greedy)).find(({ status }) => status === 429)!;
  assert.ok(Number(refused.headers.get("retry-after")) >= 1);
  assert.equal((await refused.json()).error.type, "rate_limit_exceeded");
});

test("turns that are being written take no place from given words", async () => {
  const writer = new ScriptedWriter(["Well."], { isStepwise: true });
  server = await startTestServer({ writer, flags: { concurrency: "2", shutdownGraceMs: "100" } });
  const written = [1, 2, 3].map(() => server.post("/v1/converse", { conversation: [{ speaker: "0" }] }));
  await writer.asked(3);
  assert.equal(await server.metric("turns_writing"), 3);
  assert.equal((await server.post("/v1/tts", { text: "Me." })).status, 200);
  writer.allow(3);
  for (const reply of await Promise.all(written)) assert.equal(reply.status, 200);
  assert.equal(await server.metric("turns_writing"), 0);
});

test("a turn whose next sentence does not come gives its place up for the time", async () => {
  const writer = new ScriptedWriter(["One.", "Two."], { isStepwise: true });
  server = await startTestServer({ writer, flags: { concurrency: "1", shutdownGraceMs: "100" } });
  const reply = server.post("/v1/converse/stream", { conversation: [{ speaker: "0" }] });
  await writer.asked(1);
  writer.allow(1);
  await reply;
  const other = await server.another();
  assert.equal((await server.post("/v1/tts", { text: "Me." }, other.auth)).status, 200);
  writer.allow(1);
  const events = await readEvents(await reply);
  assert.equal(events.at(-1)?.event, "end");
  assert.equal(events.at(-1)?.data.text, "One. Two.");
});

test("more turns than may be written wait for their turn, key by key, and a failed one makes room", async () => {
  const writer = new ScriptedWriter(["Well."], { isStepwise: true });
  const flags = {
    "writer.concurrency": "1",
    "writer.keyConcurrency": "1",
    queueDepth: "2",
    keyQueueDepth: "1",
  };
  server = await startTestServer({ writer, flags });
  const ask = (headers?: Record<string, string>) =>
    server.post("/v1/converse", { conversation: [{ speaker: "0" }] }, headers);
  const first = ask();
  await writer.asked(1);
  const second = ask();
  const refused = await Promise.race([ask(), ask()]);
  assert.equal(refused.status, 429);
  const other = ask((await server.another()).auth);
  writer.fail(new WriterError("the endpoint is gone"));
  assert.equal((await first).status, 502);
  assert.equal((await second).status, 502);
  assert.equal((await other).status, 502);
  assert.equal(await server.metric("turns_writing"), 0);
});
