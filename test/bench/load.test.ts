import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoadJob } from "../../src/cli/bench/load-job.ts";
import { runLoad } from "../../src/cli/bench/load-process.ts";
import { converseBody } from "../../src/cli/bench/texts.ts";
import { startTestServer, type TestServerOptions } from "../api/http/start.ts";

test("clients who read as fast as they can count every request, its frames and its first audio", async () => {
  await withServer({}, async (job) => {
    const utterances = await runLoad({ ...job, clients: 3, requests: 12 });
    assert.equal(utterances.length, 12);
    for (const { failure, frames, firstAudioMs, totalMs, openingRms } of utterances) {
      assert.equal(failure, null);
      assert.equal(frames, 9);
      assert.ok(firstAudioMs !== null && totalMs !== null && 0 < firstAudioMs && firstAudioMs <= totalMs);
      assert.ok(Math.abs(openingRms - 0.25 / Math.SQRT2) < 0.005);
    }
  });
});

test("a client who plays in real time hears a stall that outlasts the buffer as an underrun", async () => {
  const stalled = { beforeFrame: (index: number) => (index === 5 ? wait(900) : undefined) };
  await withServer({ tone: stalled }, async (job) => {
    const [utterance, ...others] = await runLoad({ ...job, pace: "real time", clients: 1, requests: 1 });
    assert.equal(others.length, 0);
    assert.ok(utterance !== undefined && utterance.underruns >= 1);
    // 600 ms of the 900 are covered: five frames and the buffer.
    assert.ok(utterance.worstLateMs > 250, String(utterance.worstLateMs));
  });
});

test("a refused request is a failure with its status, and the client goes on", async () => {
  await withServer({ rpm: 1, burst: 2 }, async (job) => {
    const utterances = await runLoad({ ...job, clients: 1, requests: 3 });
    assert.deepEqual(
      utterances.map(({ failure }) => failure),
      [null, null, "status 429"],
    );
  });
});

test("whole replies are timed, and a job without an end stops when its time is over", async () => {
  await withServer({}, async (job) => {
    const utterances = await runLoad({
      ...job,
      path: "/v1/tts",
      bodies: [JSON.stringify({ text: "Hi." })],
      clients: 1,
      durationMs: 400,
    });
    assert.ok(utterances.length > 1);
    const done = utterances.slice(0, -1);
    assert.ok(done.every(({ totalMs, failure }) => failure === null && totalMs !== null && totalMs > 0));
  });
});

async function withServer(options: TestServerOptions, use: (job: LoadJob) => Promise<void>): Promise<void> {
  const server = await startTestServer(options);
  try {
    await use({
      url: server.url,
      key: server.key,
      path: "/v1/converse/stream",
      bodies: [converseBody("Hello there")],
      clients: 1,
      pace: "at once",
      pauseMs: { start: 0, between: 0 },
      seed: 1,
    });
  } finally {
    await server.stop();
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
