import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import {
  EMPTY_UTTERANCE,
  type ModelSetup,
  type Precision,
  type Utterance,
} from "../../../src/engines/codec-lm/codec-language-model.ts";
import { selectTurns } from "../../../src/engines/codec-lm/csm/prompt.ts";
import { FrameBatch, TickTimes } from "../../../src/engines/codec-lm/frame-batch.ts";
import { ClipCache } from "../../../src/engines/codec-lm/mimi/mimi.ts";
import type { FrameModel } from "../../../src/engines/codec-lm/model-runner.ts";
import { BLOCK_POSITIONS, KvCache, PrefixCache } from "../../../src/engines/codec-lm/networks/kv-cache.ts";
import { CodeHistory } from "../../../src/engines/codec-lm/sampler.ts";
import type { SequenceState } from "../../../src/engines/codec-lm/sequence.ts";
import { CSM, openCheckpoint } from "./goldens.ts";
import { BASE } from "./qwen3-tts/cases.ts";
import { isRowAsAlone } from "./rows-alone.ts";
import { type Spoken, spoken } from "./spoken.ts";

const cacheFolder = await mkdtemp(join(tmpdir(), "antiphon-"));
after(() => rm(cacheFolder, { recursive: true }));
const never = new AbortController().signal;
const isAsAlone = await isRowAsAlone();

const KINDS: readonly [name: string, folder: string][] = [
  ["A tiny CSM", join(CSM, "csm-tiny")],
  ["A tiny Qwen3-TTS", BASE],
];

const opened = (folder: string, setup: Partial<ModelSetup> = {}) =>
  openCheckpoint(folder, { threads: 1, precision: "fp32", cacheFolder, signal: never, ...setup });

/** A distinct sound for each number. */
function clip(seconds: number, number: number): Float32Array {
  return Float32Array.from(
    { length: Math.round(seconds * 24_000) },
    (_, at) => 0.3 * Math.sin((at * (number + 3)) / 40) * Math.sin(at / 2_000),
  );
}

/** Utterances with their own histories, lengths and seeds. */
function utterances(count: number): Utterance[] {
  return Array.from({ length: count }, (_, number) => ({
    ...EMPTY_UTTERANCE,
    history: [
      { speaker: "1", text: `Turn number ${number} it is.`, audio: clip(0.3, number) },
      {
        speaker: "0",
        text: "It was there, as I said ".repeat(1 + (number % 3)),
        audio: clip(0.5 + 0.2 * number, number),
        digest: `clip ${number}`,
      },
    ],
    open: { speaker: "0", text: `And so ${"on ".repeat(number * 2)}it goes.` },
    sampling: {
      temperature: number % 4 === 0 ? 0 : 1,
      topK: number % 2 === 0 ? 20 : null,
      maxFrames: 3 + ((number * 5) % 7),
      ...(number % 3 === 0 ? { repetitionPenalty: 6, penaltyWindow: 5 } : {}),
    },
    seed: BigInt(number),
  }));
}

for (const [name, folder] of KINDS) {
  describe(`${name} with concurrent utterances`, () => {
    for (const precision of ["fp32", "int8", "int4"] satisfies Precision[]) {
      const skip = precision === "int4" && !isAsAlone && "this processor's kernel rounds rows in pairs";
      test(`generates the same as alone, to the bit, in ${precision}`, { skip }, async () => {
        const asked = utterances(5);
        const alone = await opened(folder, { precision, maxPrefixBytes: 0, threads: 2 });
        const wanted: Spoken[] = [];
        for (const utterance of asked) wanted.push(await spoken(alone, utterance));
        await alone.close();
        assert.ok(new Set(wanted.map(({ codes }) => codes.length)).size > 3);
        const together = await opened(folder, { precision, slots: 8, threads: 2 });
        const found = await Promise.all(asked.map((utterance) => spoken(together, utterance)));
        assert.deepEqual(found, wanted);
        // Again, from the caches.
        assert.deepEqual(await Promise.all(asked.map((each) => spoken(together, each))), wanted);
        await together.close();
      });
    }

    test("queues utterances beyond its slots", async () => {
      const model = await opened(folder, { slots: 2 });
      const asked = utterances(5);
      const wanted: Spoken[] = [];
      for (const utterance of asked) wanted.push(await spoken(model, utterance));
      assert.deepEqual(await Promise.all(asked.map((each) => spoken(model, each))), wanted);
      await model.close();
    });

    test("leaves others alone when one is aborted, left or idle", async () => {
      const model = await opened(folder, { slots: 4 });
      const [first, second, third, fourth] = utterances(4);
      const wanted = await spoken(model, fourth!);
      const stop = new AbortController();
      const [stopped, left, resting] = [
        model.speak(first!, stop.signal),
        model.speak(second!, never),
        model.speak(third!, never),
      ];
      await Promise.all([stopped.next(), left.next(), resting.next()]);
      const going = spoken(model, fourth!);
      const pending = stopped.next();
      stop.abort();
      await assert.rejects(pending, { name: "AbortError" });
      await left.return({ stop: "finished", readTurns: [], audioTurns: [] });
      assert.deepEqual(await going, wanted);
      const rest: unknown[] = [];
      for await (const frame of resting) rest.push(frame);
      assert.ok(rest.length > 0);
      await model.close();
    });

    test("leaves others alone when one fails within a frame", async () => {
      const model = await opened(folder, { slots: 4 });
      const [first, second, third] = utterances(4).slice(1);
      const wanted = [await spoken(model, first!), await spoken(model, third!)];
      // Enough for a frame and a part of the next.
      const uniforms = Array.from({ length: 40 }, (_, at) => at / 40);
      const broken = { ...second!, sampling: { temperature: 1, maxFrames: 9 }, uniforms };
      const [one, failed, other] = await Promise.all([
        spoken(model, first!),
        spoken(model, broken).catch((error: Error) => error.message),
        spoken(model, third!),
      ]);
      assert.match(String(failed), /Only 40 draws were given/);
      assert.deepEqual([one, other], wanted);
      await model.close();
    });

    test("fails open utterances on close", async () => {
      const model = await opened(folder, { slots: 2 });
      const speech = model.speak(utterances(1)[0]!, never);
      await speech.next();
      const [pending] = await Promise.all([speech.next().catch((error: Error) => error), model.close()]);
      assert.ok(pending instanceof Error || pending.done === false);
      await assert.rejects(speech.next().then((step) => step.done && Promise.reject(new Error("closed"))));
    });
  });
}

const SIZES = {
  ...{ width: 4, layers: 2, heads: 2, keyHeads: 2, headWidth: 2, innerWidth: 4, epsilon: 1e-5 },
  ...{ rotary: { theta: 1e4, scaling: null }, positions: 1_500, hasHeadNorms: false },
};

describe("KvCache", () => {
  test("keeps its contents when it grows, up to the model's positions", () => {
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
    // One more than the model has: idle slots are written past their end.
    assert.deepEqual(kept.tensors(1, 2).past["past_keys.0"]?.shape, [2, 2, 1_501, 2]);
    assert.throws(() => kept.ensureCapacity(1_501), /has 1500 positions; 1501 are asked for/);
  });

  test("has the same arrays as input and output", () => {
    const kept = new KvCache(SIZES, 2);
    kept.ensureCapacity(10);
    const { past, present } = kept.tensors(0, 2);
    assert.deepEqual(Object.keys(present), ["keys.0", "values.0", "keys.1", "values.1"]);
    for (const name of Object.keys(present)) assert.equal(past[`past_${name}`], present[name]);
  });
});

describe("PrefixCache", () => {
  const rows = (count: number, from = 0) => Float32Array.from({ length: count * 4 }, (_, at) => from + at);

  test("names whole blocks by their rows and all before them", () => {
    const long = PrefixCache.keysOf(rows(3 * BLOCK_POSITIONS + 5), 4);
    assert.equal(long.length, 3);
    assert.deepEqual(PrefixCache.keysOf(rows(2 * BLOCK_POSITIONS), 4), long.slice(0, 2));
    assert.equal(new Set(long).size, 3);
    const other = rows(3 * BLOCK_POSITIONS);
    other[0]! += 1;
    for (const [at, name] of PrefixCache.keysOf(other, 4).entries()) assert.notEqual(name, long[at]);
    assert.deepEqual(PrefixCache.keysOf(rows(BLOCK_POSITIONS - 1), 4), []);
  });

  test("evicts the least recently used blocks", () => {
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

test("ClipCache analyses a clip once, but not without a digest or after a failure", async () => {
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

test("FrameBatch rejects or queues an utterance too many", async () => {
  const cache = { setLength: () => {}, clear: () => {} };
  const model = { backbone: { cache } } as unknown as FrameModel;
  const times = new TickTimes();
  times.record(1, 70);
  const batch = new FrameBatch(model, { slots: 4, pace: "realtime" }, times);
  const state = {} as SequenceState;
  const { signal } = new AbortController();
  const first = await batch.join(state, signal);
  await assert.rejects(batch.admit(signal), { name: "BusyError", message: /^With 1 utterances in progress/ });
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

test("TickTimes estimates 25 % for another sequence until it is measured", () => {
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

test("CodeHistory penalises codes in its window once, except the spared one", () => {
  const chosen = new CodeHistory();
  for (const code of [1, 2, 2, 3]) chosen.add(code);
  const logits = Float32Array.of(0, 1, 1, 1);
  const of = (score: number) => score - 0.5;
  assert.deepEqual([...chosen.penalise(logits, { apply: of, window: 2 }, null)], [0, 1, 0.5, 0.5]);
  assert.deepEqual([...chosen.penalise(logits, { apply: of, window: null }, 3)], [0, 0.5, 0.5, 1]);
  assert.deepEqual([...chosen.penalise(logits, null, null)], [...logits]);
  assert.deepEqual([...logits], [0, 1, 1, 1]);
});

describe("selectTurns", () => {
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

  test("takes all turns that fit, else the newest and the speaker's first with audio", () => {
    assert.deepEqual(of({}), [0, 1, 2, 3, 4]);
    assert.deepEqual(of({ positions: 110 }), [1, 3, 4]);
    assert.deepEqual(of({ positions: 110, speaker: "1" }), [0, 3, 4]);
    assert.deepEqual(of({ positions: 40 }), [4]);
    // At most half of the positions are reserved.
    assert.deepEqual(of({ wanted: 2_000, positions: 160 }), [1, 3, 4]);
    assert.deepEqual(of({ history: [], lengths: [] }), []);
  });

  test("rejects too long a conversation or text", () => {
    const dropless = () => of({ mayDropTurns: false, positions: 130 });
    assert.throws(dropless, /conversation takes 135 .* 130 positions/);
    assert.throws(() => of({ needed: 300 }), /text takes 300 of the model's 200 positions: make it shorter/);
  });
});
