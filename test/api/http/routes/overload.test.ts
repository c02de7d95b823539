import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { frameGate, startTestServer, type TestServer } from "../start.ts";

let server: TestServer;
afterEach(() => server?.stop());

const TEXT = "A sentence that takes some seconds to say. ".repeat(4);
const STREAM = { conversation: [{ text: TEXT }] };
const REQUESTS: readonly (readonly [path: string, body: object])[] = [
  ["/v1/converse/stream", STREAM],
  ["/v1/audio/speech", { input: TEXT }],
  ["/v1/audio/speech", { input: TEXT, stream_format: "sse" }],
];

/** Starts a server whose streams all stop after three frames, and as many as may be late. */
async function startOverloaded() {
  const gate = frameGate((index) => index > 2);
  server = await startTestServer({ tone: gate.tone });
  const streams = await Promise.all([1, 2].map(() => server.post("/v1/converse/stream", STREAM)));
  return { gate, rest: () => Promise.all(streams.map((reply) => reply.text())) };
}

describe("A server that is too slow for another stream", () => {
  test("refuses every kind of stream with 502 and a time to retry, and finishes the others", async () => {
    const { gate, rest } = await startOverloaded();
    const replies = await Promise.all(REQUESTS.map(([path, body]) => server.post(path, body)));
    for (const reply of replies) {
      assert.equal(reply.status, 502);
      assert.equal(reply.headers.get("retry-after"), "1");
      assert.equal((await reply.json()).error.type, "inference_error");
    }
    gate.open();
    for (const text of await rest()) assert.match(text, /event: end/);
    assert.equal((await server.usage()).requests, 2);
  });

  test("speaks a whole reply when the streams go on", async () => {
    const { gate, rest } = await startOverloaded();
    const whole = server.post("/v1/tts", { text: "Later." });
    await server.metricIs("queue_depth", 1);
    gate.open();
    await rest();
    assert.equal((await whole).status, 200);
  });
});
