import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { makeWav } from "../../audio/make-wav.ts";
import { until, within } from "../../waiting.ts";
import { offsetClock } from "../wyoming/offset-clock.ts";
import { openRaw, rawRequest } from "./raw-socket.ts";
import { startTestServer, type TestServer } from "./start.ts";

const LONG = { text: "word ".repeat(1_500), params: { max_new_tokens: 2_048 } };

let server: TestServer;
afterEach(() => server?.stop());

test("a whole reply that nobody reads is let go when nothing has moved for too long", async () => {
  server = await startTestServer({ flags: { stallTimeoutMs: "200" } });
  const { socket, over } = await openRaw(server, { isIdle: true });
  socket.write(rawRequest("/v1/tts", server.key, LONG).repeat(3));
  await until(
    "the client to be let go",
    async () => (await server.metric('requests_ended_total{route="/v1/tts",end="left",type="none"}')) > 0,
  );
  socket.resume();
  await over;
  socket.destroy();
});

test("a stream that nobody reads is let go when nothing has moved for too long", async () => {
  server = await startTestServer({ flags: { stallTimeoutMs: "200" } });
  const { socket } = await openRaw(server, { isIdle: true });
  const body = { conversation: [{ text: LONG.text }], params: LONG.params };
  socket.write(rawRequest("/v1/converse/stream", server.key, body));
  const left = 'requests_ended_total{route="/v1/converse/stream",end="left",type="none"}';
  await until("the stream to be let go", async () => (await server.metric(left)) === 1);
  assert.equal(await server.begun(), 0);
  socket.destroy();
});

test("whoever reads, however slowly, gets all of it", async (t) => {
  server = await startTestServer({ flags: { stallTimeoutMs: "300" } });
  const clock = offsetClock({ isStill: true });
  t.after(() => clock.restore());
  const { socket, received } = await openRaw(server, { isIdle: true });
  socket.write(rawRequest("/v1/tts", server.key, LONG, { Connection: "close" }).repeat(1));
  let text = received();
  socket.on("data", (chunk: string) => {
    text += chunk;
    socket.pause();
    clock.pass(5);
    setTimeout(() => socket.resume(), 5);
  });
  socket.resume();
  await within("its end", new Promise((resolve) => socket.once("end", resolve)));
  const body = JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4));
  assert.equal(body.audio.data_b64.length % 4, 0);
  assert.ok(Buffer.from(body.audio.data_b64, "base64").length > 1e6);
  socket.destroy();
});

test("an answer that waits behind another's is not one that nobody reads", async () => {
  let count = 0;
  const late = () => (count++ === 0 ? new Promise<void>((resolve) => setTimeout(resolve, 600)) : undefined);
  server = await startTestServer({ flags: { stallTimeoutMs: "100" }, tone: { beforeFrame: late } });
  const raw = await openRaw(server);
  raw.socket.write(rawRequest("/v1/tts", server.key, { text: "Hi." }).repeat(2));
  await until("both answers", () => raw.received().match(/HTTP\/1.1 200/g)?.length === 2);
  raw.socket.destroy();
});

test("a reply that is being read when the server stops is read to its end, within the grace", async () => {
  server = await startTestServer();
  const { socket } = await openRaw(server, { isIdle: true });
  socket.write(rawRequest("/v1/tts", server.key, LONG, { Connection: "close" }));
  await until("the reply to be there", async () => (await server.metric("active_streams")) === 0);
  let text = "";
  const stopping = server.stop();
  socket.on("data", (chunk: string) => {
    text += chunk;
    socket.pause();
    setTimeout(() => socket.resume(), 5);
  });
  socket.resume();
  await within("its end", new Promise((resolve) => socket.once("end", resolve)));
  const body = JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4));
  assert.ok(body.audio.data_b64.length > 1e6);
  await stopping;
});

test("a body that stops coming is let go, and its memory with it", async () => {
  server = await startTestServer({ flags: { stallTimeoutMs: "200" } });
  const { socket, over } = await openRaw(server);
  socket.write(rawRequest("/v1/tts", server.key, "{", { "Content-Length": "1000000" }));
  await until(
    "room to be held for the body",
    async () => (await server.metric("receiving_bytes")) === 1_000_000,
  );
  await over;
  await until("its room to be free", async () => (await server.metric("receiving_bytes")) === 0);
  socket.destroy();
});

test("bodies that find no room wait unread, are told to come back when they waited too long, and cost nothing", async () => {
  server = await startTestServer({
    flags: {
      receivingBudgetMb: "2",
      keyReceivingBudgetMb: "1",
      bodyLimitBytes: "1048576",
      queueWaitMs: "300",
    },
  });
  const megabyte = { "Content-Length": "1048576" };
  const standing = [await openRaw(server), await openRaw(server)];
  for (const { socket } of standing) socket.write(rawRequest("/v1/tts", server.key, "{", megabyte));
  await until(
    "room to be held for one body",
    async () => (await server.metric("receiving_bytes")) === 1_048_576,
  );
  const [first, second] = standing;
  await until("the other body to be refused", () =>
    `${first!.received()}${second!.received()}`.includes("502 Bad Gateway"),
  );
  const other = await server.another();
  const body = { text: "Hi.", pad: "x".repeat(100_000) };
  assert.equal((await server.post("/v1/tts", body, other.auth)).status, 200, "another key finds room");
  assert.equal((await server.post("/v1/tts", { text: "Hi." })).status, 200, "small bodies need none");
  for (const { socket } of standing) socket.destroy();
  await until("all room to be free", async () => (await server.metric("receiving_bytes")) === 0);
});

test("audio holds its memory until the voice in it is heard, and others wait for it", async () => {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  server = await startTestServer({
    flags: { audioBudgetMb: "1", keyAudioBudgetMb: "1" },
    tone: { beforeFrame: () => held },
  });
  const wav = makeWav({ encoding: "s16", rateHz: 24_000, channels: [new Array(200_000).fill(1)] });
  const conversation = [{ audio_wav_b64: wav.toString("base64") }, { text: "Hi." }];
  const first = server.post("/v1/converse", { conversation });
  await until("the first audio to be held", async () => (await server.metric("audio_bytes")) === 800_000);
  const second = server.post("/v1/converse", { conversation });
  letGo();
  assert.equal((await first).status, 200);
  assert.equal((await second).status, 200);
  await until("no audio to be held", async () => (await server.metric("audio_bytes")) === 0);
});

test("a body that says nothing of its length is read, and counted once it is no small one", async () => {
  server = await startTestServer({ flags: { bodyLimitBytes: "300000" } });
  const raw = await openRaw(server);
  const headers = { "Content-Length": "", "Transfer-Encoding": "chunked", Connection: "close" };
  const start = rawRequest("/v1/tts", server.key, "", headers).replace("Content-Length: \r\n", "");
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  raw.socket.write(start + chunk(`{"text":"Hi.","pad":"${"x".repeat(100_000)}`));
  await until(
    "room to be held for the body",
    async () => (await server.metric("receiving_bytes")) === 300_000,
  );
  raw.socket.write(`${chunk('"}')}0\r\n\r\n`);
  await raw.over;
  assert.match(raw.received(), /^HTTP\/1.1 200 /);
  raw.socket.destroy();
});
