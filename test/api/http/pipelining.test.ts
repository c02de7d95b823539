import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { until } from "../../waiting.ts";
import { openRaw, rawRequest } from "./raw-socket.ts";
import { startTestServer, type TestServer } from "./start.ts";

const LONG = { conversation: [{ text: "word ".repeat(1_500) }], params: { max_new_tokens: 2_048 } };

let server: TestServer;
afterEach(() => server?.stop());

test("streams that were asked for on one connection end with it, whoever waited behind whom", async () => {
  server = await startTestServer({ flags: { concurrency: "4", queueDepth: "100", keyQueueDepth: "100" } });
  const { socket } = await openRaw(server, { isIdle: true });
  socket.write(rawRequest("/v1/converse/stream", server.key, LONG).repeat(20));
  await until(
    "four streams to begin and others to wait",
    async () => (await server.begun()) >= 4 && (await server.metric("queue_depth")) > 0,
  );
  socket.destroy();
  await until(
    "everything to end with its connection",
    async () => (await server.begun()) + (await server.metric("queue_depth")) === 0,
  );
  const other = await server.another();
  const reply = await server.post("/v1/tts", { text: "Me." }, other.auth);
  assert.equal(reply.status, 200);
});

test("whole replies that wait behind a stream are not spoken, nor metered, for a client that has gone", async () => {
  let spoken = 0;
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  server = await startTestServer({
    flags: { concurrency: "1", queueDepth: "100", keyQueueDepth: "100" },
    tone: { beforeFrame: () => held.then(() => void spoken++) },
  });
  const { socket } = await openRaw(server, { isIdle: true });
  socket.write(rawRequest("/v1/tts", server.key, { text: "Hello." }).repeat(10));
  await until("nine requests to wait", async () => (await server.metric("queue_depth")) === 9);
  socket.destroy();
  await until("those that wait to leave", async () => (await server.metric("queue_depth")) === 0);
  letGo();
  await until("the one that was begun to end", async () => (await server.begun()) === 0);
  assert.ok(spoken <= 1, `${spoken} frames were spoken`);
  assert.equal((await (await server.get("/v1/usage")).json()).requests, 0);
});

test("a server stops within its grace while a client that reads nothing has many requests on one connection", async () => {
  server = await startTestServer({ flags: { shutdownGraceMs: "100", concurrency: "4" } });
  const { socket, over } = await openRaw(server, { isIdle: true });
  socket.write(rawRequest("/v1/converse/stream", server.key, LONG).repeat(20));
  await until("four streams to begin", async () => (await server.begun()) >= 4);
  await server.stop();
  socket.destroy();
  await over;
});

test("requests on one connection are answered one after the other, in their order", async () => {
  server = await startTestServer();
  const raw = await openRaw(server);
  for (const id of ["one", "two", "three"]) {
    raw.socket.write(rawRequest("/v1/tts", server.key, { text: "Hi." }, { "X-Request-ID": id }));
  }
  await until("the third answer", () => (raw.received().match(/"request_id":"three"/g) ?? []).length === 1);
  const ids = [...raw.received().matchAll(/"request_id":"(\w+)"/g)].map(([, id]) => id);
  assert.deepEqual(ids, ["one", "two", "three"]);
  raw.socket.destroy();
});
