import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { frameGate, startTestServer, type TestServer } from "../start.ts";

let server: TestServer;
afterEach(() => server?.stop());

const TEXT = "A sentence that takes some seconds to say. ".repeat(4);
const STREAM = { conversation: [{ text: TEXT }] };

/** Starts a server with one thread, and a stream that waits for its first frame. */
async function startOverloaded() {
  const gate = frameGate();
  server = await startTestServer({ tone: gate.tone });
  const stream = server.post("/v1/converse/stream", STREAM).then((reply) => reply.text());
  await server.metricIs("active_streams", 1);
  return { gate, stream };
}

describe("A server that is too slow for another stream", () => {
  test("refuses streams that are played with 502 and a time to retry, and finishes the open one", async () => {
    const { gate, stream } = await startOverloaded();
    const asked: readonly (readonly [path: string, body: object])[] = [
      ["/v1/converse/stream", STREAM],
      ["/v1/audio/speech", { input: TEXT, stream_format: "audio" }],
      ["/v1/audio/speech", { input: TEXT, stream_format: "sse" }],
    ];
    const replies = await Promise.all(asked.map(([path, body]) => server.post(path, body)));
    for (const reply of replies) {
      assert.equal(reply.status, 502);
      assert.equal(reply.headers.get("retry-after"), "1");
      assert.equal((await reply.json()).error.type, "inference_error");
    }
    gate.open();
    assert.match(await stream, /event: end/);
    assert.equal((await server.usage()).requests, 1);
  });

  test("speaks files once the stream continues", async () => {
    const { gate, stream } = await startOverloaded();
    const files = [
      server.post("/v1/tts", { text: "Later." }),
      server.post("/v1/audio/speech", { input: "Later." }),
    ];
    await server.metricIs("queue_depth", 2);
    gate.open();
    await stream;
    for (const reply of await Promise.all(files)) assert.equal(reply.status, 200);
  });
});
