import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, test } from "node:test";
import { encodeWav } from "../../../src/audio/encode-wav.ts";
import { type ReadRecording, RecordingReader } from "../../../src/serving/prepare/recording-reader.ts";
import { goldenRecording } from "../../audio/recordings/golden-recordings.ts";

const NEVER = new AbortController().signal;
const RATE_HZ = 8_000;

let reader: RecordingReader;
beforeEach(() => {
  reader = new RecordingReader();
});
afterEach(() => reader.close());

const wavOf = (seconds: number, level = 100): Uint8Array<ArrayBuffer> =>
  new Uint8Array(encodeWav(new Int16Array(seconds * RATE_HZ).fill(level), RATE_HZ));

async function lengths(sound: ReadRecording, count: number): Promise<number[]> {
  const found: number[] = [];
  for (;;) {
    const { length } = await sound.read(count, NEVER);
    if (length === 0) return found;
    found.push(length);
  }
}

describe("a recording decoded in a thread", () => {
  test("is read in chunks of any length, the last one shorter", async () => {
    const sound = await reader.open(wavOf(13), NEVER);
    assert.deepEqual([sound.sampleRateHz, sound.boundS], [RATE_HZ, 13]);
    assert.deepEqual(await lengths(sound, 12 * RATE_HZ), [12 * RATE_HZ, RATE_HZ]);
    assert.equal((await sound.read(5, NEVER)).length, 0);
  });

  test("is read independently of others", async () => {
    const sounds = await Promise.all([
      reader.open(wavOf(2, 1_000), NEVER),
      reader.open(wavOf(3, 2_000), NEVER),
    ]);
    for (let second = 0; second < 2; second += 1) {
      const both = await Promise.all(sounds.map((sound) => sound.read(RATE_HZ, NEVER)));
      assert.deepEqual(
        both.map((samples) => samples.at(-1)),
        [Math.fround(1_000 / 32_768), Math.fround(2_000 / 32_768)],
      );
    }
    assert.deepEqual(await Promise.all(sounds.map((sound) => lengths(sound, RATE_HZ))), [[], [RATE_HZ]]);
  });

  test("may be raw samples with a given format", async () => {
    const bytes = new Uint8Array(Int16Array.of(16_384, -16_384, 8_192, 8_192).buffer);
    const sound = await reader.open(bytes, NEVER, { sampleRateHz: RATE_HZ, kind: "s16", channels: 2 });
    assert.deepEqual([...(await sound.read(9, NEVER))], [0, 0.25]);
  });

  test("is rejected on opening for a bad header, on reading for bad audio", async () => {
    await assert.rejects(reader.open(new Uint8Array(9), NEVER), {
      status: 400,
      message: /^file: undecodable/,
    });
    const damaged = goldenRecording("stereo-44100.flac");
    damaged[damaged.length - 40]! ^= 1;
    const sound = await reader.open(damaged, NEVER);
    await assert.rejects(lengths(sound, 1_000_000), {
      status: 400,
      message: /^file: .*damaged.*: send a whole/,
    });
  });

  test("can be abandoned without stopping others", async () => {
    const [left, stays] = await Promise.all([reader.open(wavOf(9), NEVER), reader.open(wavOf(2), NEVER)]);
    const gone = new AbortController();
    const reading = left.read(9 * RATE_HZ, gone.signal);
    gone.abort(new Error("gone"));
    await assert.rejects(reading, /gone/);
    left.release();
    left.release();
    await assert.rejects(left.read(1, NEVER), { status: 502 });
    assert.deepEqual(await lengths(stays, RATE_HZ), [RATE_HZ, RATE_HZ]);
  });

  test("ends its thread if it was large; the next one gets a new thread", async () => {
    const threads = startedThreads();
    const large = await reader.open(wavOf(70), NEVER);
    assert.equal((await large.read(RATE_HZ, NEVER)).length, RATE_HZ);
    large.release();
    const next = await reader.open(wavOf(1), NEVER);
    assert.deepEqual(await lengths(next, RATE_HZ), [RATE_HZ]);
    assert.equal(threads(), 2);
  });

  test("with an aborted signal starts no thread", async () => {
    const threads = startedThreads();
    await assert.rejects(reader.open(wavOf(1), AbortSignal.abort(new Error("gone"))), /gone/);
    assert.equal(threads(), 0);
  });
});

function startedThreads(): () => number {
  let count = 0;
  const onWorker = (): void => void count++;
  process.on("worker", onWorker);
  return () => {
    process.off("worker", onWorker);
    return count;
  };
}
