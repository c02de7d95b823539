import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../../../waiting.ts";
import { frameGate, startTestServer, type TestServer } from "../start.ts";

let server: TestServer;
afterEach(() => server?.stop());

const TEXT = "A sentence that takes some seconds to say. ".repeat(4);
const STREAM = { conversation: [{ text: TEXT }] };

/** Starts a server with one thread and streams that stop after their first frame, until it refuses one. */
async function startOverloaded() {
  const gate = frameGate((index) => index > 0);
  server = await startTestServer({ tone: gate.tone });
  const streams: Promise<Response>[] = [];
  let isRefused = false;
  await until("a refusal", async () => {
    const stream = server.post("/v1/converse/stream", STREAM);
    streams.push(stream);
    void stream.then(({ status }) => (isRefused ||= status === 502));
    await sleep(50);
    return isRefused;
  });
  return { gate, streams };
}

describe("A server that is too slow for another stream", () => {
  test("refuses streams that are played with 502 and a time to retry, and finishes the open ones", async () => {
    const { gate, streams } = await startOverloaded();
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
    const texts = await Promise.all(streams.map(async (stream) => (await stream).text()));
    const spoken = texts.filter((text) => text.includes("event: end"));
    assert.equal((await server.usage()).requests, spoken.length);
    assert.ok(spoken.length > 0);
  });

  test("speaks files once the streams continue", async () => {
    const { gate, streams } = await startOverloaded();
    const files = [
      server.post("/v1/tts", { text: "Later." }),
      server.post("/v1/audio/speech", { input: "Later." }),
    ];
    await server.metricIs("queue_depth", 2);
    gate.open();
    await Promise.all(streams);
    for (const reply of await Promise.all(files)) assert.equal(reply.status, 200);
  });
});
