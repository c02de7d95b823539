import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { openRaw, rawRequest } from "./raw-socket.ts";
import { startTestServer, type TestServer } from "./start.ts";
import { dataOf } from "./wire.ts";

const PATH = "/v1/audio/speech";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.stop());

test("speech for clients of OpenAI's API speaks the whole of 4,096 characters, which is more than max_new_tokens could ask for", async () => {
  const input = `${"A sentence of thirty letters is. ".repeat(124)}End.`;
  assert.equal(input.length, 4_096);
  const asked = { model: "tts-1", input, response_format: "pcm", stream_format: "sse", speed: 0.7 };
  const events = await dataOf(await server.post(PATH, asked));
  const { usage, stop } = events.pop();
  assert.equal(stop, "finished");
  assert.ok(usage.output_tokens > 2_048);
  assert.equal(usage.output_audio_seconds, (4_096 * 1_440) / 24_000);
});

test("speech gives all of a long MP3 to a reader who takes it slowly", async () => {
  const { socket, received } = await openRaw(server, { isIdle: true });
  const input = "word ".repeat(800);
  socket.write(rawRequest(PATH, server.key, { model: "tts-1", input }, { Connection: "close" }));
  let bytes = received().length;
  socket.on("data", (chunk: string) => {
    bytes += Buffer.byteLength(chunk);
    socket.pause();
    setImmediate(() => socket.resume());
  });
  const over = new Promise((resolve) => socket.once("end", resolve));
  socket.resume();
  await over;
  assert.ok(bytes > 240 * 16_000, `${bytes}`);
  const usage = await (await server.get("/v1/usage")).json();
  assert.equal(usage.output_audio_seconds, 240);
});
