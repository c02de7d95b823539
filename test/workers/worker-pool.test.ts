import assert from "node:assert/strict";
import { afterEach, describe, it, test } from "node:test";
import { FRAME_SAMPLES } from "../../src/audio/format.ts";
import type { Turn } from "../../src/core/conversation.ts";
import { SpeechFailedError } from "../../src/core/speech-model.ts";
import { chooseThread, createWorkerPool, type PoolStats } from "../../src/workers/worker-pool.ts";
import { drain, LONG_TEXT, scriptOf } from "../core/scripts.ts";
import fc from "../properties.ts";
import { until } from "../waiting.ts";
import { COUNT } from "./faulty-model.ts";
import { closePools, faultyPool, held, openGate, REPORT, speak, TONE, takeFrames } from "./faulty-pool.ts";

afterEach(closePools);

test("a thread computes ahead up to its credit", async () => {
  const { pool, count } = await faultyPool({ creditFrames: 3 });
  const slow = speak(pool, "speak");
  await slow.next();
  await slow.next();
  await takeFrames(pool, 20);
  assert.equal(Atomics.load(count, COUNT.frames), 5);
  await slow.return(REPORT);
});

test("an abandoned utterance computes nothing more and is closed", async () => {
  const { pool, count } = await faultyPool();
  const controller = new AbortController();
  const aborted = pool.speak(scriptOf({ text: "speak" }), controller.signal);
  await aborted.next();
  await takeFrames(pool, 10);
  controller.abort(new Error("gone"));
  const atAbort = Atomics.load(count, COUNT.frames);
  await takeFrames(pool, 20);
  assert.ok(Atomics.load(count, COUNT.frames) <= atAbort + 1);
  assert.ok(Atomics.load(count, COUNT.left) >= 2);
  assert.equal(pool.stats().open, 0);
  await assert.rejects(aborted.next(), /gone/);
});

test("an abort is thrown at once, even during a frame", async () => {
  const { pool, count } = await faultyPool();
  const controller = new AbortController();
  const speech = pool.speak(scriptOf({ text: "hold" }), controller.signal);
  await speech.next();
  const blocked = speech.next();
  await held(count);
  controller.abort(new Error("gone"));
  await assert.rejects(blocked, /gone/);
  openGate(count);
  await takeFrames(pool, 5);
  assert.ok(Atomics.load(count, COUNT.frames) <= 2);
});

test("frames are transferred, not copied, unless they are views", async () => {
  const { pool, count } = await faultyPool();
  await takeFrames(pool, 8, "speak");
  // The first frames are sent singly; later ones may wait for the next.
  assert.ok(Atomics.load(count, COUNT.detached) >= 3);
  const views = await takeFrames(pool, 8);
  for (const [index, samples] of views.entries()) {
    assert.equal(samples.length, FRAME_SAMPLES);
    assert.ok(Math.abs((samples[0] ?? 0) - index / 1000) < 1e-6, `frame ${index} is another's`);
  }
});

test("a pool that resolves with its first thread speaks, and then starts the others", async () => {
  const { pool } = await faultyPool({ size: 3, resolvesWithFirst: true });
  assert.equal(pool.stats().size, 3);
  assert.ok(pool.stats().ready >= 1);
  await takeFrames(pool, 1);
  await until("the other threads to be ready", () => pool.stats().ready === 3);
});

test("an utterance goes to the thread with the least load", async () => {
  const { pool, count } = await faultyPool({ size: 2 });
  const busy = speak(pool, "hold");
  await busy.next();
  await held(count);
  await takeFrames(pool, 10);
  await takeFrames(pool, 10);
  openGate(count);
  await busy.return(REPORT);
});

for (const [how, command] of [
  ["exits", "exit"],
  ["throws an uncaught error", "throw"],
  ["runs out of memory", "eat"],
] as const) {
  test(`a thread that ${how} fails its utterances and is replaced`, async () => {
    const events: string[] = [];
    const { pool } = await faultyPool({
      onEvent: (event) => events.push(event.kind),
      resourceLimits: { maxOldGenerationSizeMb: 32 },
    });
    const other = speak(pool, "speak");
    await other.next();
    await assert.rejects(drain(speak(pool, command)), SpeechFailedError);
    await assert.rejects(drain(other), SpeechFailedError);
    await takeFrames(pool, 3);
    assert.deepEqual(events, ["replacing"]);
    assert.equal(pool.stats().replaced, 1);
  });
}

test("a killed thread fails its own utterance only", async () => {
  const { pool } = await faultyPool({ entry: TONE, create: {}, size: 2 });
  const [first, second] = [speak(pool, LONG_TEXT), speak(pool, LONG_TEXT)];
  await Promise.all([first.next(), second.next()]);
  await pool.terminateOne();
  const ends = await Promise.allSettled([drain(first), drain(second)]);
  assert.deepEqual(ends.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  const rejection = ends.find((end) => end.status === "rejected");
  assert.ok(rejection?.status === "rejected" && rejection.reason instanceof SpeechFailedError);
  const after = await drain(speak(pool, LONG_TEXT));
  assert.equal(after.report.stop, "finished");
});

test("without a thread, an utterance waits for the replacement or its signal", async () => {
  const { pool } = await faultyPool({ entry: TONE, create: {}, size: 1 });
  await pool.terminateOne();
  const controller = new AbortController();
  const waiting = speak(pool, LONG_TEXT).next();
  const leaving = pool.speak(scriptOf(), controller.signal).next();
  controller.abort(new Error("gone"));
  await assert.rejects(leaving, /gone/);
  assert.equal((await waiting).done, false);
});

test("a model that fails to start fails the pool with its message", async () => {
  const failing = faultyPool({ size: 2 }, { startError: "voice.onnx: not an ONNX file" });
  await assert.rejects(failing, /^SpeechFailedError: .*voice\.onnx: not an ONNX file/);
});

test("a missing module fails the pool", async () => {
  const missing = new URL("./no-such-module.js", import.meta.url);
  await assert.rejects(createWorkerPool({ entry: missing, create: {}, size: 1 }), /no-such-module/);
});

test("utterances fail at once while no thread starts, until one does", async () => {
  const log: (readonly [string, PoolStats])[] = [];
  const { pool, count }: Awaited<ReturnType<typeof faultyPool>> = await faultyPool(
    { startAttempts: 4, restartDelayMs: 1, onEvent: ({ kind }) => log.push([kind, pool.stats()]) },
    { goodStarts: 1, badStarts: 9 },
  );
  await pool.terminateOne();
  await until("a broken place", () => pool.stats().broken === 1);
  await assert.rejects(speak(pool, "speak").next(), /SpeechFailedError: .*no speech thread can be started/);
  await until("a thread", () => pool.stats().ready === 1);
  await takeFrames(pool, 3);
  assert.equal(Atomics.load(count, COUNT.starts), 11);
  assert.deepEqual(
    log.map(([kind, { ready, broken }]) => [kind, ready, broken]),
    [
      ["replacing", 0, 0],
      ["failing", 0, 1],
      ["recovered", 1, 0],
    ],
  );
});

test("a pool with a broken slot can be closed", async () => {
  const { pool } = await faultyPool({ startAttempts: 1, restartDelayMs: 2 ** 30 }, { goodStarts: 1 });
  await pool.terminateOne();
  await until("a broken place", () => pool.stats().broken === 1);
  await pool.close();
  await assert.rejects(speak(pool, "speak").next(), /was closed/);
});

test("deaths caused by utterances do not count as failed starts", async () => {
  const { pool } = await faultyPool({ startAttempts: 2 });
  for (let round = 0; round < 4; round++) {
    await assert.rejects(drain(speak(pool, "exit")), SpeechFailedError);
  }
  await takeFrames(pool, 3);
  assert.equal(pool.stats().replaced, 4);
});

test("a pool can be closed while a dead thread is replaced", async () => {
  const { pool } = await faultyPool({ entry: TONE, create: {}, size: 2 });
  await pool.terminateOne();
  const waiting = Promise.allSettled([drain(speak(pool, LONG_TEXT)), drain(speak(pool, LONG_TEXT))]);
  await pool.close();
  await waiting;
  assert.equal(pool.stats().open, 0);
});

const written: Turn = { speaker: "1", text: "Well?", audio: null };

function spoken(digest: string): Turn {
  const audio = { samples: new Float32Array(1), sampleRateHz: 24_000, durationS: 1 / 24_000, digest };
  return { speaker: "0", text: null, audio };
}

const loads = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 6 });

describe("the chosen thread", () => {
  it("has the least load if there is no audio", () => {
    fc.assert(
      fc.property(loads, (each) => {
        const threads = each.map((load) => ({ load }));
        assert.equal(chooseThread(threads, { history: [written] }).load, Math.min(...each));
      }),
    );
  });

  it("is the same for every conversation that begins with one clip", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (digest, later) => {
        const threads = [{ load: 0 }, { load: 1 }, { load: 1 }, { load: 0 }];
        const first = chooseThread(threads, { history: [written, spoken(digest)] });
        const grown = { history: [written, spoken(digest), ...later.map(spoken), written] };
        assert.equal(chooseThread(threads, grown), first);
      }),
    );
  });

  it("never has two more utterances than another", () => {
    fc.assert(
      fc.property(loads, fc.string(), (each, digest) => {
        const chosen = chooseThread(
          each.map((load) => ({ load })),
          { history: [spoken(digest)] },
        );
        assert.ok(chosen.load <= Math.min(...each) + 1);
      }),
    );
  });

  it("is an idle one if a thread keeps pace with one listener only", () => {
    fc.assert(
      fc.property(loads, fc.string(), (each, digest) => {
        const threads = each.map((load) => ({ load }));
        assert.equal(chooseThread(threads, { history: [spoken(digest)] }, 0).load, Math.min(...each));
      }),
    );
  });

  it("varies from clip to clip", () => {
    const threads = [{ load: 0 }, { load: 0 }];
    const chosen = Array.from({ length: 40 }, (_, i) =>
      chooseThread(threads, { history: [spoken(`clip ${i}`)] }),
    );
    assert.ok(threads.every((thread) => chosen.filter((each) => each === thread).length > 8));
  });
});
