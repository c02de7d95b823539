import assert from "node:assert/strict";
import { afterEach, describe, it, mock } from "node:test";
import type { Slot, UtteranceSlotOptions, UtteranceTraits } from "../../src/limits/slot-utterance.ts";
import { UtteranceSlots } from "../../src/limits/utterance-slots.ts";
import fc from "../properties.ts";
import { settle, withClock } from "../serving/service-over.ts";

const opened: UtteranceSlots[] = [];
const slots: Slot[] = [];
afterEach(() => {
  for (const admission of opened.splice(0)) admission.close();
  for (const slot of slots.splice(0)) slot.release();
});

function admissionAt(options: Partial<UtteranceSlotOptions> = {}) {
  let nowMs = 0;
  const admission = new UtteranceSlots({
    concurrency: 2,
    keyConcurrency: 2,
    queueDepth: 10,
    keyQueueDepth: 10,
    queueWaitMs: 60_000,
    nowMs: () => nowMs,
    ...options,
  });
  opened.push(admission);
  const stopped: string[] = [];
  const enter = (key: string, signal = new AbortController().signal, isBegun = false) => {
    const entering = admission.enter(key, signal, () => stopped.push(key), { isBegun });
    entering.then(
      (slot) => slots.push(slot),
      () => {},
    );
    return entering;
  };
  return { admission, enter, stopped, pass: (ms: number) => (nowMs += ms) };
}

async function isSettled(promise: Promise<unknown> | null): Promise<boolean> {
  let has = promise === null;
  promise?.then(
    () => (has = true),
    () => (has = true),
  );
  await settle();
  return has;
}

describe("a resting slot", () => {
  it("goes to a waiting request after half a second, and returns when one is free", async () => {
    await withClock(async (tick) => {
      const { admission, enter, pass } = admissionAt();
      const [first, second] = [await enter("a"), await enter("a")];
      first.rest();
      const waiting = enter("b");
      assert.equal(await isSettled(waiting), false);
      pass(500);
      await tick(100);
      const other = await waiting;
      assert.deepEqual([admission.active, admission.paused, admission.queued], [2, 1, 0]);
      const back = first.work(5);
      assert.notEqual(back, null);
      assert.equal(await isSettled(back), false);
      assert.equal(first.work(5), back, "who asks twice waits once");
      second.release();
      assert.equal(await isSettled(back), true);
      assert.equal(first.work(5), null);
      other.release();
      first.release();
      assert.deepEqual([admission.active, admission.paused], [0, 0]);
    });
  });

  it("is kept if no request waits or if it works again", async () => {
    await withClock(async (tick) => {
      const { admission, enter, pass } = admissionAt({ concurrency: 1, keyConcurrency: 1 });
      const slot = await enter("a");
      slot.rest();
      pass(60_000);
      assert.equal(slot.work(60), null);
      const waiting = enter("b");
      pass(60_000);
      await tick(100);
      assert.equal(await isSettled(waiting), false, "it works, however long that takes");
      slot.release();
      await waiting;
      assert.equal(admission.active, 1);
    });
  });

  it("is ended after five seconds if no more utterances fit, the longest resting first", async () => {
    await withClock(async (tick) => {
      const { enter, stopped, pass } = admissionAt();
      const resting: Slot[] = [];
      // The fifth exceeds the total: a key without an utterance may always open one.
      for (const key of ["a", "a", "b", "b", "c"]) {
        const entering = enter(key);
        pass(500);
        await tick(100);
        const slot = await entering;
        slot.rest();
        resting.push(slot);
      }
      const waiting = enter("c");
      await tick(100);
      assert.deepEqual(stopped, []);
      pass(5_000);
      await tick(100);
      assert.deepEqual(stopped, ["a"]);
      await tick(100);
      assert.deepEqual(stopped, ["a"], "only one at a time");
      for (const slot of resting.slice(0, 2)) slot.release();
      await waiting;
    });
  });
});

describe("a kept slot", () => {
  it("stays with its utterance, which is ended after five seconds of rest if others wait", async () => {
    await withClock(async (tick) => {
      const { enter, stopped, pass } = admissionAt({ keepsSlots: true });
      const [resting, paused] = [await enter("a"), await enter("a")];
      resting.rest();
      paused.pause();
      const waiting = enter("b");
      pass(4_999);
      await tick(100);
      assert.equal(await isSettled(waiting), false);
      assert.equal(await isSettled(paused.work(0)), true, "its slot is free");
      assert.deepEqual(stopped, []);
      pass(1);
      await tick(100);
      assert.deepEqual(stopped, ["a"]);
      resting.release();
      await waiting;
    });
  });
});

describe("a paused slot", () => {
  it("goes to another request at once, and returns when one is free", async () => {
    const { admission, enter } = admissionAt({ concurrency: 1, keyConcurrency: 1 });
    const first = await enter("a");
    const entering = enter("b");
    first.pause();
    const second = await entering;
    const back = first.work(0);
    assert.equal(await isSettled(back), false);
    second.pause();
    await back;
    assert.deepEqual([admission.taken, admission.active, admission.paused], [1, 1, 1]);
  });

  it("never ends its utterance", async () => {
    await withClock(async (tick) => {
      const { enter, stopped, pass } = admissionAt({ concurrency: 1, keyConcurrency: 1 });
      for (const key of ["a", "b"]) {
        const slot = await enter(key);
        slot.rest();
        slot.pause();
      }
      enter("c").catch(() => {});
      enter("c").catch(() => {});
      pass(50_000);
      await tick(100);
      assert.deepEqual(stopped, []);
    });
  });
});

describe("the active count", () => {
  it("excludes resting and paused utterances", async () => {
    const { admission, enter } = admissionAt({ concurrency: 3, keyConcurrency: 3 });
    const [first, second] = [await enter("a"), await enter("a"), await enter("a")];
    assert.deepEqual([admission.active, admission.paused], [3, 0]);
    first!.rest();
    second!.pause();
    assert.deepEqual([admission.taken, admission.active, admission.paused], [2, 1, 2]);
    first!.work(0);
    await second!.work(0);
    assert.deepEqual([admission.taken, admission.active, admission.paused], [3, 3, 0]);
  });
});

describe("a key with more slots than another", () => {
  it("yields one between frames until both have as many", async () => {
    const { admission, enter } = admissionAt({ concurrency: 4, keyConcurrency: 4 });
    const greedy = [await enter("a"), await enter("a"), await enter("a"), await enter("a")];
    const modest = [enter("b"), enter("b"), enter("b")];
    for (const slot of greedy) slot.work(0);
    await settle();
    assert.deepEqual([admission.active, admission.paused, admission.queued], [4, 2, 1]);
    assert.deepEqual(await Promise.all(modest.map(isSettled)), [true, true, false]);
    assert.deepEqual(
      greedy.map((slot) => slot.work(0) === null),
      [false, false, true, true],
    );
  });

  it("shares the only slot by turns of a second of lead", async () => {
    const { admission, enter } = admissionAt({ concurrency: 1, keyConcurrency: 1 });
    const first = await enter("a");
    const entering = enter("b");
    assert.equal(first.work(0.9), null);
    const back = first.work(1);
    const second = await entering;
    assert.deepEqual([admission.active, admission.paused], [1, 1]);
    assert.equal(second.work(0.5), null);
    const again = second.work(1.1);
    await back;
    assert.equal(await isSettled(again), false);
    first.release();
    await again;
  });
});

describe("a key's limit", () => {
  it("counts open utterances, including resting ones", async () => {
    await withClock(async (tick) => {
      const { admission, enter, pass } = admissionAt({ concurrency: 3, keyConcurrency: 1 });
      const slot = await enter("a");
      slot.rest();
      const second = enter("a");
      pass(10_000);
      await tick(100);
      assert.equal(await isSettled(second), false);
      await enter("b");
      assert.equal(admission.taken, 2, "others pass it by");
      slot.release();
      await second;
    });
  });
});

describe("a paused utterance", () => {
  it("resumes before new requests of its key", async () => {
    const { admission, enter } = admissionAt({ concurrency: 2, keyConcurrency: 2 });
    const first = await enter("a");
    await enter("a");
    const newcomer = enter("a");
    const entering = enter("b");
    assert.equal(await isSettled(entering), false);
    const back = first.work(0);
    const other = await entering;
    assert.equal(await isSettled(back), false);
    other.release();
    assert.equal(await isSettled(back), true);
    assert.equal(await isSettled(newcomer), false);
    assert.deepEqual([admission.active, admission.paused, admission.queued], [2, 0, 1]);
  });

  it("is not ended for a new request of a key at its limit", async () => {
    await withClock(async (tick) => {
      const { enter, stopped, pass } = admissionAt({ concurrency: 1, keyConcurrency: 1 });
      for (const key of ["a", "b"]) {
        const entering = enter(key);
        pass(500);
        await tick(100);
        (await entering).rest();
      }
      const second = enter("a");
      pass(60_000);
      await tick(100);
      assert.deepEqual(stopped, []);
      assert.equal(await isSettled(second), false);
    });
  });

  it("resumes in time with thousands waiting", async () => {
    const { admission, enter } = admissionAt({
      concurrency: 2_000,
      keyConcurrency: 2_000,
      queueDepth: 4_000,
      keyQueueDepth: 4_000,
    });
    const first = await Promise.all(Array.from({ length: 2_000 }, () => enter("a")));
    const waiting = Array.from({ length: 2_000 }, () => enter("b"));
    for (const slot of first) slot.release();
    await Promise.all(waiting);
    assert.equal(admission.active, 2_000);
  });

  it("leaves no state when its client disconnects while it waits", async () => {
    const { admission, enter } = admissionAt({ concurrency: 1, keyConcurrency: 1 });
    const gone = new AbortController();
    const first = await enter("a", gone.signal);
    const entering = enter("b");
    const back = first.work(1);
    await entering;
    gone.abort(new Error("gone"));
    await assert.rejects(back!, { message: "gone" });
    first.release();
    assert.deepEqual([admission.active, admission.paused, admission.queued], [1, 0, 0]);
  });

  it("is dropped when its slot is released while it waits", async () => {
    const { admission, enter } = admissionAt({ concurrency: 1, keyConcurrency: 1 });
    const first = await enter("a");
    const entering = enter("b");
    const back = first.work(1);
    const second = await entering;
    first.release();
    await assert.rejects(back!);
    second.release();
    assert.deepEqual([admission.active, admission.paused, admission.queued], [0, 0, 0]);
  });

  it("resumes during shutdown, while new requests are refused", async () => {
    const { admission, enter } = admissionAt({ concurrency: 1, keyConcurrency: 1 });
    const first = await enter("a");
    const entering = enter("b");
    const back = first.work(1);
    const second = await entering;
    const late = enter("c");
    const written = enter("e", undefined, true);
    admission.close();
    await assert.rejects(late, { status: 502 });
    await assert.rejects(enter("d"), { status: 502 });
    assert.equal(await isSettled(written), false, "its words are written, so it is no newcomer");
    second.release();
    await back;
    assert.equal(admission.active, 1);
  });

  it("is counted right, and slots are never doubled or idle, in any order of events", async () => {
    const step = fc.tuple(
      fc.constantFrom("enter", "enter", "work", "work", "ahead", "rest", "pause", "release", "abort", "pass"),
      fc.nat(20),
    );
    const run = async (concurrency: number, maxLate: number, steps: [string, number][]) => {
      const { admission, enter, pass } = admissionAt({ concurrency, keyConcurrency: concurrency, maxLate });
      const inside: { slot: Slot; gone: AbortController; coming: Promise<void> | null }[] = [];
      let waiting = 0;
      for (const [kind, who] of steps) {
        const one = inside[who % Math.max(1, inside.length)];
        if (kind === "enter") {
          const gone = new AbortController();
          waiting++;
          enter(["a", "b", "c"][who % 3]!, gone.signal).then(
            (slot) => {
              waiting--;
              inside.push({ slot, gone, coming: null });
            },
            () => waiting--,
          );
        } else if (kind === "pass") pass(1_000);
        else if (one === undefined) continue;
        else if (kind === "rest") one.slot.rest();
        else if (kind === "pause") one.slot.pause();
        else if (kind === "work" || kind === "ahead") {
          const turn = one.slot.work(kind === "ahead" ? 2 : 0);
          if (turn !== null && one.coming === null) {
            one.coming = turn;
            const done = () => {
              one.coming = null;
            };
            turn.then(done, done);
          }
        } else {
          if (kind === "abort") one.gone.abort(new Error("gone"));
          await settle();
          one.slot.release();
          inside.splice(inside.indexOf(one), 1);
        }
        await settle();
        const comings = inside.filter(({ coming }) => coming !== null).length;
        assert.equal(admission.active + admission.paused, inside.length);
        assert.equal(admission.queued, waiting);
        assert.ok(admission.active <= admission.taken && admission.taken <= concurrency);
        assert.ok(admission.paused >= comings);
        assert.ok(inside.length <= 2 * concurrency + concurrency, "as many as may be, and each key its part");
        const isIdle = admission.taken < concurrency;
        assert.ok(!isIdle || comings === 0, "an utterance waits although a slot is idle");
      }
      for (const { slot } of inside) slot.release();
      admission.close();
      await settle();
    };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 9 }),
        fc.array(step, { maxLength: 50 }),
        run,
      ),
      { numRuns: 300 },
    );
  });
});

const NEVER = new AbortController().signal;
const GENEROUS: UtteranceSlotOptions = {
  ...{ concurrency: 2, keyConcurrency: 2, queueDepth: 2, keyQueueDepth: 2, queueWaitMs: 1_000 },
};

const neverEnded = () => assert.fail("no utterance is to be ended");
const enter = (admission: UtteranceSlots, signal = NEVER, key = "key_a"): Promise<Slot> =>
  admission.enter(key, signal, neverEnded);

async function fill(admission: UtteranceSlots, count: number, key = "key_a"): Promise<Slot[]> {
  const slots: Slot[] = [];
  for (let i = 0; i < count; i++) slots.push(await enter(admission, NEVER, key));
  return slots;
}

describe("utterance slots", () => {
  it("admit and queue up to their limits, and refuse the next request at once", async () => {
    const admission = new UtteranceSlots(GENEROUS);
    await fill(admission, 2);
    const waiting = [enter(admission, NEVER), enter(admission, NEVER)];
    assert.deepEqual([admission.active, admission.queued], [2, 2]);
    await assert.rejects(enter(admission, NEVER), {
      status: 502,
      type: "inference_error",
      retryAfterMs: 1_000,
    });
    assert.equal(admission.queued, 2, "a refusal takes no room");
    admission.close();
    await Promise.allSettled(waiting);
  });

  it("admit in the order of arrival", async () => {
    const admission = new UtteranceSlots({ ...GENEROUS, queueDepth: 3, keyQueueDepth: 3 });
    const slots = await fill(admission, 2);
    const order: string[] = [];
    for (const name of ["first", "second", "third"]) {
      void enter(admission, NEVER).then((slot) => {
        order.push(name);
        slots.push(slot);
      });
    }
    for (let i = 0; i < 3; i++) {
      slots[i]!.release();
      await settle();
    }
    assert.deepEqual(order, ["first", "second", "third"]);
    assert.deepEqual([admission.active, admission.queued], [2, 0]);
  });

  it("drop an aborted request from the queue and admit the next", async () => {
    const admission = new UtteranceSlots(GENEROUS);
    const [slot] = await fill(admission, 2);
    const gone = new AbortController();
    const left = enter(admission, gone.signal);
    const patient = enter(admission, NEVER);
    gone.abort(new Error("gone"));
    await assert.rejects(left, { message: "gone" });
    assert.equal(admission.queued, 1);
    slot!.release();
    await patient;
    assert.deepEqual([admission.active, admission.queued], [2, 0]);
    await assert.rejects(
      enter(admission, gone.signal),
      { message: "gone" },
      "who has gone before it asks too",
    );
  });

  it("refuse a request that has waited too long", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const admission = new UtteranceSlots(GENEROUS);
      const slots = await fill(admission, 2);
      let refused: unknown = null;
      enter(admission, NEVER).catch((error: unknown) => {
        refused = error;
      });
      mock.timers.tick(600);
      const later = enter(admission, NEVER);
      mock.timers.tick(399);
      await settle();
      assert.equal(refused, null);
      mock.timers.tick(1);
      await settle();
      assert.equal((refused as { status?: number } | null)?.status, 502);
      slots[0]!.release();
      await later;
      mock.timers.tick(10_000);
      assert.deepEqual([admission.active, admission.queued], [2, 0], "a slot that was given stays given");
    } finally {
      mock.timers.reset();
    }
  });

  it("refuse queued and new requests after close, and keep open slots", async () => {
    const admission = new UtteranceSlots(GENEROUS);
    const [slot] = await fill(admission, 2);
    const waiting = enter(admission, NEVER);
    admission.close();
    for (const refused of [waiting, enter(admission, NEVER)]) {
      await assert.rejects(refused, { status: 502, message: /shutting down/ });
    }
    assert.equal(admission.active, 2);
    slot!.release();
    assert.equal(admission.active, 1);
  });

  it("are never idle, doubled or out of order, in any order of events", async () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.constant({ kind: "enter" as const, who: 0 }) },
      { weight: 2, arbitrary: fc.nat(20).map((who) => ({ kind: "release" as const, who })) },
      { weight: 1, arbitrary: fc.nat(20).map((who) => ({ kind: "abort" as const, who })) },
    );
    const run = async (
      concurrency: number,
      queueDepth: number,
      steps: readonly { kind: string; who: number }[],
    ) => {
      const admission = new UtteranceSlots({
        concurrency,
        keyConcurrency: concurrency,
        queueDepth,
        keyQueueDepth: queueDepth,
        queueWaitMs: 60_000,
      });
      const line: { id: number; gone: AbortController }[] = [];
      const inside: { id: number; slot: Slot }[] = [];
      const admitted: number[] = [];
      let nextId = 0;
      for (const { kind, who } of steps) {
        if (kind === "enter") {
          const id = nextId++;
          const gone = new AbortController();
          const isFull = inside.length === concurrency && line.length === queueDepth;
          const entering = enter(admission, gone.signal);
          if (isFull) await assert.rejects(entering, { status: 502 });
          else {
            line.push({ id, gone });
            entering.then(
              (slot) => {
                admitted.push(id);
                inside.push({ id, slot });
                line.splice(
                  line.findIndex((waiting) => waiting.id === id),
                  1,
                );
              },
              () => {},
            );
          }
        } else if (kind === "release" && inside.length > 0) {
          inside.splice(who % inside.length, 1)[0]!.slot.release();
        } else if (kind === "abort" && line.length > 0) {
          line.splice(who % line.length, 1)[0]!.gone.abort(new Error("gone"));
        }
        await settle();
        assert.equal(admission.active, inside.length);
        assert.equal(admission.queued, line.length);
        assert.ok(inside.length <= concurrency && line.length <= queueDepth);
        assert.ok(
          inside.length === concurrency || line.length === 0,
          "a request waits although a slot is idle",
        );
        assert.deepEqual(
          admitted,
          [...admitted].sort((a, b) => a - b),
          "out of order",
        );
      }
      admission.close();
    };
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.nat(3), fc.array(step, { maxLength: 40 }), run),
    );
  });
});

describe("an utterance on a slow machine", () => {
  /** Slots that open nothing while two utterances are late. Each utterance is a little late at once. */
  function slow() {
    let nowMs = 0;
    const many = {
      concurrency: 64,
      keyConcurrency: 64,
      queueDepth: 9,
      keyQueueDepth: 9,
      queueWaitMs: 10_000,
    };
    const admission = new UtteranceSlots({ ...many, maxLate: 2, nowMs: () => nowMs });
    opened.push(admission);
    const begin = async (key = "a", traits: UtteranceTraits = { isUrgent: true }) => {
      const slot = await admission.enter(key, NEVER, neverEnded, traits);
      slots.push(slot);
      slot.work(-0.01);
      return slot;
    };
    const pass = (ms: number) => (nowMs += ms);
    /** Returns two utterances that have been late for long enough that newcomers wait. */
    const overload = async (ms = 400) => {
      const late = [await begin(), await begin()] as const;
      stayLate(late, ms);
      return late;
    };
    const stayLate = (late: readonly Slot[], ms: number) => {
      for (let passedMs = 0; passedMs < ms; passedMs += 100) {
        pass(100);
        for (const slot of late) slot.work(-0.01);
      }
    };
    return { admission, begin, pass, overload, stayLate };
  }

  it("is opened once an earlier one is ahead of its listener", async () => {
    const { begin, pass, overload } = slow();
    const [first, second] = await overload();
    const [third, fourth] = [begin(), begin()];
    assert.equal(await isSettled(third), false);
    pass(20);
    first.work(3);
    await third;
    assert.equal(await isSettled(fourth), false);
    pass(20);
    second.work(0.99);
    assert.equal(await isSettled(fourth), false, "the second is less than a second ahead");
    pass(20);
    second.work(1.01);
    await fourth;
  });

  it("waits for one that falls back, but for none that rests, waits for its listener, or is stuck", async () => {
    const { admission, begin, pass, overload } = slow();
    const late = await overload(1_500);
    for (const slot of late) slot.work(1.2);
    pass(300);
    const waiting = begin();
    assert.equal(await isSettled(waiting), false, "both are 0.9 seconds ahead");
    late[0].rest();
    late[1].pause();
    await waiting;
    pass(100);
    for (const slot of late) slot.work(0.9);
    await begin();
    assert.equal(await isSettled(begin()), false);
    pass(2_000);
    await begin();
    assert.equal(admission.queued, 0);
  });

  it("is opened as the first of its key while few other keys have one", async () => {
    const { begin, overload } = slow();
    await overload();
    await Promise.all(["b", "c", "d", "e"].map((key) => begin(key)));
    for (const key of ["b", "f"]) assert.equal(await isSettled(begin(key)), false);
  });

  it("is refused if it is urgent, its first audio would be late, and others have come for 0.4 seconds", async () => {
    await withClock(async (tick) => {
      const { begin, pass, overload, stayLate } = slow();
      const late = await overload(1_500);
      const patient = begin("a", {});
      const first = assert.rejects(begin(), { status: 502 });
      stayLate(late, 400);
      for (let count = 0; count < 3; count++) {
        const waiting = begin();
        const refused = assert.rejects(waiting, { status: 502, retryAfterMs: 1_000 });
        pass(239);
        await tick(100);
        assert.equal(await isSettled(waiting), false);
        pass(1);
        await tick(100);
        await refused;
      }
      await first;
      for (const slot of late) slot.work(9);
      await tick(100);
      await patient;
    });
  });

  it("waits as long as it takes in a burst, even a second one", async () => {
    await withClock(async (tick) => {
      const { admission, begin, overload, stayLate } = slow();
      const late = await overload(1_500);
      const burst = [begin(), begin()];
      stayLate(late, 300);
      burst.push(begin(), begin());
      for (let passedMs = 0; passedMs < 5_000; passedMs += 100) {
        stayLate(late, 100);
        await tick(100);
      }
      assert.equal(admission.queued, 4);
      for (const slot of late) slot.release();
      for (const waiting of burst) (await waiting).release();
    });
  });

  it("is not refused for files, or for a newcomer that comes a second later", async () => {
    await withClock(async (tick) => {
      const { admission, begin, overload, stayLate } = slow();
      const late = await overload();
      const early = [begin("a", {}), begin()];
      stayLate(late, 1_100);
      const waiting = [...early, begin()];
      stayLate(late, 900);
      await tick(100);
      assert.equal(admission.queued, 3, "a file, a burst of one, and the first of another burst");
      for (const slot of late) slot.release();
      for (const each of waiting) (await each).release();
    });
  });

  it("is opened when an earlier one catches up, without a timer", async () => {
    await withClock(async () => {
      const { begin, pass, overload } = slow();
      const [first] = await overload();
      const third = begin();
      pass(20);
      first.work(1.01);
      assert.equal(await isSettled(third), true);
    });
  });

  it("is opened in a burst after short replies with idle time between them", async () => {
    const { admission, begin, pass } = slow();
    for (let count = 0; count < 20; count++) {
      const replies = [await begin(), await begin()];
      pass(5);
      for (const slot of replies) slot.release();
      pass(85);
    }
    await Promise.all(Array.from({ length: 10 }, () => begin()));
    assert.equal(admission.queued, 0);
  });

  it("is opened in a burst after a rest, however long ago the overload was", async () => {
    const { admission, begin, pass, overload } = slow();
    for (const slot of await overload(1_500)) slot.release();
    pass(60_000);
    await Promise.all([begin(), begin(), begin(), begin()]);
    assert.equal(admission.queued, 0);
  });

  it("is refused sooner if first frames take longer", async () => {
    await withClock(async (tick) => {
      const { admission, begin, pass, overload, stayLate } = slow();
      for (let count = 0; count < 40; count++) {
        const slot = await admission.enter("a", NEVER, neverEnded);
        pass(100);
        slot.work(0.08);
        slot.release();
      }
      const late = await overload(1_500);
      begin().catch(() => {});
      stayLate(late, 400);
      const refused = assert.rejects(begin(), { status: 502 });
      pass(100);
      await tick(100);
      await refused;
    });
  });
});

describe("a priced slot", () => {
  const priced = (parts: Partial<UtteranceSlotOptions> = {}) => {
    let nowMs = 0;
    const price = { perSecond: 0.5, patienceMs: 1_000 };
    const options = { ...GENEROUS, queueDepth: 9, keyQueueDepth: 9, queueWaitMs: 60_000, keepsSlots: true };
    const admission = new UtteranceSlots({ ...options, price, nowMs: () => nowMs, ...parts });
    return {
      admission,
      pass: (ms: number) => (nowMs += ms),
      speak: (leastS: number, key = "a", isBegun = false) =>
        admission.enter(key, NEVER, neverEnded, { isBegun, minSpeechS: leastS }),
    };
  };

  it("is refused at once if none frees in time: 429 to the key that holds all, else 502", async () => {
    const { admission, speak } = priced();
    await speak(10);
    await speak(20);
    await assert.rejects(speak(10), { status: 429, retryAfterMs: 5_000, message: /retry in 5 seconds/ });
    await assert.rejects(speak(10, "b"), { status: 502, retryAfterMs: 5_000 });
    assert.equal(admission.queued, 0);
  });

  it("is awaited if one may free in time", async () => {
    const { admission, pass, speak } = priced();
    const first = await speak(10);
    await speak(20);
    pass(4_200);
    const waiting = speak(10);
    await assert.rejects(speak(10), { status: 429, retryAfterMs: 5_800 });
    assert.equal(admission.queued, 1);
    first.release();
    await waiting;
  });

  it("is awaited for the patience only, unless its text is already written", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const { speak } = priced();
      const [slot] = [await speak(0), await speak(0)];
      const refused = assert.rejects(speak(0), { status: 429 });
      const written = speak(0, "a", true);
      mock.timers.tick(1_000);
      await refused;
      slot.release();
      await written;
    } finally {
      mock.timers.reset();
    }
  });
});
