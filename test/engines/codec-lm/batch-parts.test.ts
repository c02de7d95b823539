import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { selectTurns } from "../../../src/engines/codec-lm/csm/prompt.ts";
import { FrameBatch, TickTimes } from "../../../src/engines/codec-lm/frame-batch.ts";
import { ClipCache } from "../../../src/engines/codec-lm/mimi/mimi.ts";
import type { FrameModel } from "../../../src/engines/codec-lm/model-runner.ts";
import { BLOCK_POSITIONS, KvCache, PrefixCache } from "../../../src/engines/codec-lm/networks/kv-cache.ts";
import { CodeHistory } from "../../../src/engines/codec-lm/sampler.ts";
import type { SequenceState } from "../../../src/engines/codec-lm/sequence.ts";

const SIZES = {
  ...{ width: 4, layers: 2, heads: 2, keyHeads: 2, headWidth: 2, innerWidth: 4, epsilon: 1e-5 },
  ...{ rotary: { theta: 1e4, scaling: null }, positions: 1_500, hasHeadNorms: false },
};

describe("keys and values in slots", () => {
  test("stay what they are when there has to be room for more, and no more than the model has", () => {
    const kept = new KvCache(SIZES, 3);
    kept.ensureCapacity(40);
    const copies = [0, 1, 2].map((slot) =>
      Float32Array.from({ length: 4 * 2 * 40 * 2 }, (_, at) => slot * 1_000 + at),
    );
    for (const [slot, copy] of copies.entries()) {
      kept.copyIn(slot, 0, copy);
      kept.setLength(slot, 40);
    }
    const { generation } = kept;
    kept.ensureCapacity(500);
    assert.equal(kept.generation, generation);
    kept.ensureCapacity(700);
    assert.notEqual(kept.generation, generation);
    for (const [slot, copy] of copies.entries()) assert.deepEqual(kept.copyOut(slot, 0, 40), copy);
    kept.ensureCapacity(1_500);
    // One position more than the model has: a slot that rests there is written behind its end.
    assert.deepEqual(kept.tensors(1, 2).past["past_keys.0"]?.shape, [2, 2, 1_501, 2]);
    assert.throws(() => kept.ensureCapacity(1_501), /has 1500 positions; 1501 are asked for/);
  });

  test("are the same arrays where they go in and where they come out", () => {
    const kept = new KvCache(SIZES, 2);
    kept.ensureCapacity(10);
    const { past, present } = kept.tensors(0, 2);
    assert.deepEqual(Object.keys(present), ["keys.0", "values.0", "keys.1", "values.1"]);
    for (const name of Object.keys(present)) assert.equal(past[`past_${name}`], present[name]);
  });
});

describe("blocks of prompts", () => {
  const rows = (count: number, from = 0) => Float32Array.from({ length: count * 4 }, (_, at) => from + at);

  test("are known by their rows and all before them, and are whole", () => {
    const long = PrefixCache.keysOf(rows(3 * BLOCK_POSITIONS + 5), 4);
    assert.equal(long.length, 3);
    assert.deepEqual(PrefixCache.keysOf(rows(2 * BLOCK_POSITIONS), 4), long.slice(0, 2));
    assert.equal(new Set(long).size, 3);
    const other = rows(3 * BLOCK_POSITIONS);
    other[0]! += 1;
    for (const [at, name] of PrefixCache.keysOf(other, 4).entries()) assert.notEqual(name, long[at]);
    assert.deepEqual(PrefixCache.keysOf(rows(BLOCK_POSITIONS - 1), 4), []);
  });

  test("take no more memory than they may, and those go first that were not asked for", () => {
    const blocks = new PrefixCache(3 * 40);
    for (const name of ["a", "b", "c"]) blocks.set(name, new Float32Array(10));
    assert.ok(blocks.get("a"));
    blocks.set("d", new Float32Array(10));
    assert.equal(blocks.get("b"), undefined);
    assert.ok(blocks.get("a") && blocks.get("c") && blocks.get("d"));
    blocks.set("e", new Float32Array(31));
    for (const name of ["a", "c", "d", "e"]) assert.equal(blocks.get(name), undefined);
  });
});

test("a clip that comes again is not listened to again; without a digest, or after a failure, it is", async () => {
  const clips = new ClipCache<number>();
  let made = 0;
  const make = async () => ++made;
  assert.equal(await clips.getOrCompute(["a", "b"], make), 1);
  assert.equal(await clips.getOrCompute(["a", "b"], make), 1);
  assert.equal(await clips.getOrCompute(["b", "a"], make), 2);
  assert.equal(await clips.getOrCompute(["a", undefined], make), 3);
  await assert.rejects(
    clips.getOrCompute(["c"], () => Promise.reject(new Error("not now"))),
    /not now/,
  );
  assert.equal(await clips.getOrCompute(["c"], make), 4);
});

test("one too many is refused in real time, or waits until another leaves, unless it is told to stop", async () => {
  const cache = { setLength: () => {}, clear: () => {} };
  const model = { backbone: { cache } } as unknown as FrameModel;
  const times = new TickTimes();
  times.record(1, 70);
  const batch = new FrameBatch(model, { slots: 4, pace: "realtime" }, times);
  const state = {} as SequenceState;
  const { signal } = new AbortController();
  const first = await batch.join(state, signal);
  await assert.rejects(batch.admit(signal), { name: "BusyError", message: /^With 1 being spoken already/ });
  await assert.rejects(batch.join(state, signal), { name: "BusyError" });
  const stop = new AbortController();
  const stopped = batch.join(state, stop.signal, true);
  let letIn = 0;
  const waiting = [1, 2].map(async () => {
    await batch.admit(signal, true);
    const sequence = await batch.join(state, signal, true);
    letIn += 1;
    return sequence;
  });
  stop.abort();
  await assert.rejects(stopped, { name: "AbortError" });
  assert.equal(letIn, 0);
  first.leave();
  const second = await Promise.race(waiting);
  await setImmediate();
  assert.equal(letIn, 1);
  second.leave();
  const [one, other] = await Promise.all(waiting);
  assert.notEqual(one, other);
  await batch.close();
  await assert.rejects(batch.join(state, signal, true), /closed/);
});

test("a tick with one more is thought to take a quarter longer until it was measured", () => {
  const times = new TickTimes();
  assert.equal(times.estimate(2), 0);
  times.record(1, 40);
  assert.equal(times.estimate(1), 40);
  assert.equal(times.estimate(3), 62.5);
  times.record(3, 100);
  assert.equal(times.estimate(3), 100);
  times.record(3, 50);
  assert.equal(times.estimate(3), 90);
});

test("a first code that was chosen within the window is penalised once, but not the one that is spared", () => {
  const chosen = new CodeHistory();
  for (const code of [1, 2, 2, 3]) chosen.add(code);
  const logits = Float32Array.of(0, 1, 1, 1);
  const of = (score: number) => score - 0.5;
  assert.deepEqual([...chosen.penalise(logits, { apply: of, window: 2 }, null)], [0, 1, 0.5, 0.5]);
  assert.deepEqual([...chosen.penalise(logits, { apply: of, window: null }, 3)], [0, 0.5, 0.5, 1]);
  assert.deepEqual([...chosen.penalise(logits, null, null)], [...logits]);
  assert.deepEqual([...logits], [0, 1, 1, 1]);
});

describe("the turns that CSM reads", () => {
  const turn = (speaker: string, seconds: number) => ({
    speaker,
    text: "words",
    audio: seconds > 0 ? new Float32Array(24_000 * seconds) : null,
  });
  const history = [turn("1", 2), turn("0", 2), turn("1", 2), turn("0", 2), turn("1", 0)];
  const lengths = [30, 30, 30, 30, 5];
  const of = (more: object) =>
    selectTurns({
      ...{ history, lengths, speaker: "0", needed: 10, wanted: 20, positions: 200, mayDropTurns: true },
      ...more,
    });

  test("are all, where there is room; else the newest, and the speaker's first with sound", () => {
    assert.deepEqual(of({}), [0, 1, 2, 3, 4]);
    assert.deepEqual(of({ positions: 110 }), [1, 3, 4]);
    assert.deepEqual(of({ positions: 110, speaker: "1" }), [0, 3, 4]);
    assert.deepEqual(of({ positions: 40 }), [4]);
    // Half of the positions are kept for what follows, at most.
    assert.deepEqual(of({ wanted: 2_000, positions: 160 }), [1, 3, 4]);
    assert.deepEqual(of({ history: [], lengths: [] }), []);
  });

  test("are told to be too many where none may be left out, or the text alone is too long", () => {
    assert.throws(
      () => of({ mayDropTurns: false, positions: 130 }),
      /conversation takes 135 .* 130 positions/,
    );
    assert.throws(() => of({ needed: 300 }), /text takes 300 of the model's 200 positions: make it shorter/);
  });
});
