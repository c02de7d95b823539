import assert from "node:assert/strict";
import { test } from "node:test";
import { audioRms, EventSplitter, isAudio, isError } from "../../bench/load/load-client.ts";
import { type LoadJob, type LoadResult, runLoad } from "../../bench/load/load-job.ts";
import { median, percentile } from "../../bench/load/percentile.ts";
import { Playback } from "../../bench/load/playback.ts";
import { ReplyParser } from "../../bench/load/reply-parser.ts";
import { converseBody, heldOf, maxHeld } from "../../bench/load/service-speed.ts";
import { formatAudioEvent, formatEvent } from "../../src/api/http/paced-response.ts";
import { pcm16Bytes } from "../../src/audio/pcm.ts";
import { startTestServer, type TestServerOptions } from "../api/http/start.ts";
import fc from "../properties.ts";

test("fast clients count every request, its frames and its first audio", async () => {
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

test("a real-time client counts a stall beyond the buffer as an underrun", async () => {
  const stalled = { beforeFrame: (index: number) => (index === 5 ? wait(900) : undefined) };
  await withServer({ tone: stalled }, async (job) => {
    const [utterance, ...others] = await runLoad({ ...job, pace: "real time", clients: 1, requests: 1 });
    assert.equal(others.length, 0);
    assert.ok(utterance !== undefined && utterance.underruns >= 1);
    // Five frames and the buffer cover 600 of the 900 ms.
    assert.ok(utterance.worstLateMs > 250, String(utterance.worstLateMs));
  });
});

test("a refused request is a failure with its status", async () => {
  await withServer({ rpm: 1, burst: 2 }, async (job) => {
    const utterances = await runLoad({ ...job, clients: 1, requests: 3 });
    assert.deepEqual(
      utterances.map(({ failure }) => failure),
      [null, null, "status 429"],
    );
  });
});

test("whole replies are timed, and an endless job stops in time", async () => {
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

const TWENTY = Array.from({ length: 20 }, (_, index) => 20 - index);

test("a percentile is the smallest value that its share does not exceed", () => {
  assert.equal(percentile(TWENTY, 0.95), 19);
  assert.equal(percentile(TWENTY, 0.5), 10);
  assert.equal(percentile(TWENTY, 1), 20);
  assert.equal(percentile(TWENTY, 0), 1);
});

test("the median of an even number is between the two in the middle", () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([7]), 7);
});

test("no values have no percentile", () => {
  assert.throws(() => percentile([], 0.5), RangeError);
  assert.throws(() => median([]), RangeError);
});

test("frames at the pace of speech, or all at once, are in time", () => {
  const steady = new Playback(0);
  const burst = new Playback(0);
  for (let frame = 0; frame < 50; frame++) {
    assert.equal(steady.take(1_000 + 80 * frame), 0);
    assert.equal(burst.take(1_000), 0);
  }
  assert.equal(steady.endMs, 1_000 + 50 * 80);
  assert.equal(burst.aheadMs(1_000), 4_000);
});

test("a frame may be as late as the buffer is long", () => {
  const playback = new Playback(200);
  playback.take(0);
  assert.equal(playback.take(280), 0);
  assert.equal(playback.take(361), 1);
});

test("a gap is one underrun", () => {
  const playback = new Playback(0);
  playback.take(0);
  assert.equal(playback.take(580), 500);
  for (let frame = 1; frame < 20; frame++) assert.equal(playback.take(580 + 80 * frame), 0);
  assert.equal(playback.frames, 21);
});

interface ParsedReply {
  readonly status: number;
  readonly body: string;
}

test("replies are parsed alike however their bytes are cut", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          body: fc.string(),
          chunks: fc.array(fc.string({ minLength: 1 })),
          isChunked: fc.boolean(),
        }),
      ),
      fc.array(fc.nat(40), { minLength: 1 }),
      (replies, cuts) => {
        const bytes = Buffer.from(replies.map(asReply).join(""));
        assert.deepEqual(
          heardOf(pieces(bytes, cuts)),
          replies.map(({ body, chunks, isChunked }) => ({
            status: 200,
            body: isChunked ? chunks.join("") : body,
          })),
        );
      },
    ),
  );
});

test("a reply without a body ends with its headers", () => {
  const bytes = Buffer.from("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
  assert.deepEqual(heardOf([bytes]), [{ status: 502, body: "" }]);
});

test("events are parsed however their bytes are cut", () => {
  const silence = new Int16Array(1_920);
  const speech = Int16Array.from({ length: 1_920 }, (_, index) => (index % 2 === 0 ? 8_192 : -8_192));
  const error = { type: "inference_error", message: "the voice is gone", request_id: "r" } as const;
  const bytes = Buffer.from(
    formatAudioEvent(pcm16Bytes(silence), 0) +
      ": keep-alive\n\n" +
      formatAudioEvent(pcm16Bytes(speech), 1) +
      formatEvent({ event: "error", data: error }),
  );
  fc.assert(
    fc.property(fc.array(fc.nat(4_000), { minLength: 1 }), (cuts) => {
      const events: Buffer[] = [];
      const splitter = new EventSplitter((event) => events.push(Buffer.from(event)));
      for (const piece of pieces(bytes, cuts)) splitter.push(piece);
      assert.deepEqual(events.map(isAudio), [true, false, true, false]);
      assert.deepEqual(events.map(isError), [false, false, false, true]);
      assert.deepEqual(events.filter(isAudio).map(audioRms), [0, 0.25]);
    }),
  );
});

function asReply({
  body,
  chunks,
  isChunked,
}: {
  body: string;
  chunks: string[];
  isChunked: boolean;
}): string {
  if (!isChunked) return `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const parts = chunks.map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`);
  return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${parts.join("")}0\r\n\r\n`;
}

function heardOf(bytes: readonly Buffer[]): ParsedReply[] {
  const replies: ParsedReply[] = [];
  let status = 0;
  let body: Buffer[] = [];
  const parser = new ReplyParser({
    onStatus: (code) => {
      status = code;
      body = [];
    },
    onBody: (piece) => body.push(Buffer.from(piece)),
    onEnd: () => replies.push({ status, body: Buffer.concat(body).toString() }),
  });
  for (const piece of bytes) parser.push(piece);
  return replies;
}

/** `bytes` cut into pieces of the given lengths, over and over, at least one byte each. */
function pieces(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const cut: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length]! + 1;
    cut.push(bytes.subarray(at, at + length));
    at += length;
  }
  return cut;
}

const FINE: LoadResult = {
  firstAudioMs: 20,
  totalMs: 4_000,
  openingRms: 0.1,
  frames: 50,
  underruns: 0,
  worstLateMs: 0,
  failure: null,
};

test("streams are sustained without underruns, failures or long waits", () => {
  assert.ok(heldOf([FINE, { ...FINE, firstAudioMs: 1_000, totalMs: null }]).isHeld);
  assert.ok(!heldOf([FINE, { ...FINE, underruns: 1, worstLateMs: 3 }]).isHeld);
  assert.ok(!heldOf([FINE, { ...FINE, failure: "status 502" }]).isHeld);
  assert.ok(!heldOf([FINE, { ...FINE, firstAudioMs: 1_001 }]).isHeld);
  assert.ok(!heldOf([]).isHeld);
});

test("stream counts are tried upwards until one fails", async () => {
  const asked: number[] = [];
  const { most, tried } = await maxHeld([8, 16, 32, 64], async (streams) => {
    asked.push(streams);
    return heldOf([{ ...FINE, underruns: streams > 20 ? 1 : 0 }]);
  });
  assert.equal(most, 16);
  assert.deepEqual(asked, [8, 16, 32]);
  assert.equal(tried.get(32)?.isHeld, false);
});

test("none are sustained if the fewest are not", async () => {
  const { most } = await maxHeld([8, 16], async () => heldOf([]));
  assert.equal(most, 0);
});
