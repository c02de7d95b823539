import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { type Slot, type UtteranceSlotOptions, UtteranceSlots } from "../../src/limits/utterance-slots.ts";
import fc from "../properties.ts";

const NEVER = new AbortController().signal;
const GENEROUS: UtteranceSlotOptions = {
  concurrency: 2,
  keyConcurrency: 2,
  queueDepth: 2,
  keyQueueDepth: 2,
  queueWaitMs: 1_000,
};

/** Lets everything that is ready to happen happen. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

const nobody = () => assert.fail("nobody is to be ended");
const enter = (admission: UtteranceSlots, signal = NEVER, key = "key_a"): Promise<Slot> =>
  admission.enter(key, signal, nobody);

async function fill(admission: UtteranceSlots, count: number, key = "key_a"): Promise<Slot[]> {
  const places: Slot[] = [];
  for (let i = 0; i < count; i++) places.push(await enter(admission, NEVER, key));
  return places;
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
    const places = await fill(admission, 2);
    const order: string[] = [];
    for (const name of ["first", "second", "third"]) {
      void enter(admission, NEVER).then((place) => {
        order.push(name);
        places.push(place);
      });
    }
    for (let i = 0; i < 3; i++) {
      places[i]!.release();
      await settle();
    }
    assert.deepEqual(order, ["first", "second", "third"]);
    assert.deepEqual([admission.active, admission.queued], [2, 0]);
  });

  it("are released once", async () => {
    const admission = new UtteranceSlots(GENEROUS);
    const [place] = await fill(admission, 2);
    place!.release();
    place!.release();
    assert.equal(admission.active, 1);
  });

  it("drop an aborted request from the queue and admit the next", async () => {
    const admission = new UtteranceSlots(GENEROUS);
    const [place] = await fill(admission, 2);
    const gone = new AbortController();
    const left = enter(admission, gone.signal);
    const patient = enter(admission, NEVER);
    gone.abort(new Error("gone"));
    await assert.rejects(left, { message: "gone" });
    assert.equal(admission.queued, 1);
    place!.release();
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
      const places = await fill(admission, 2);
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
      places[0]!.release();
      await later;
      mock.timers.tick(10_000);
      assert.deepEqual([admission.active, admission.queued], [2, 0], "a place that was given stays given");
    } finally {
      mock.timers.reset();
    }
  });

  it("refuse queued and new requests after close, and keep open slots", async () => {
    const admission = new UtteranceSlots(GENEROUS);
    const [place] = await fill(admission, 2);
    const waiting = enter(admission, NEVER);
    admission.close();
    for (const refused of [waiting, enter(admission, NEVER)]) {
      await assert.rejects(refused, { status: 502, message: /shutting down/ });
    }
    assert.equal(admission.active, 2);
    place!.release();
    assert.equal(admission.active, 1);
  });

  it("are never idle, doubled or out of order, in any order of events", async () => {
    const deed = fc.oneof(
      { weight: 3, arbitrary: fc.constant({ kind: "enter" as const, who: 0 }) },
      { weight: 2, arbitrary: fc.nat(20).map((who) => ({ kind: "release" as const, who })) },
      { weight: 1, arbitrary: fc.nat(20).map((who) => ({ kind: "abort" as const, who })) },
    );
    const run = async (
      concurrency: number,
      queueDepth: number,
      deeds: readonly { kind: string; who: number }[],
    ) => {
      const admission = new UtteranceSlots({
        concurrency,
        keyConcurrency: concurrency,
        queueDepth,
        keyQueueDepth: queueDepth,
        queueWaitMs: 60_000,
      });
      const line: { id: number; gone: AbortController }[] = [];
      const inside: { id: number; place: Slot }[] = [];
      const admitted: number[] = [];
      let nextId = 0;
      for (const { kind, who } of deeds) {
        if (kind === "enter") {
          const id = nextId++;
          const gone = new AbortController();
          const isFull = inside.length === concurrency && line.length === queueDepth;
          const entering = enter(admission, gone.signal);
          if (isFull) await assert.rejects(entering, { status: 502 });
          else {
            line.push({ id, gone });
            entering.then(
              (place) => {
                admitted.push(id);
                inside.push({ id, place });
                line.splice(
                  line.findIndex((waiting) => waiting.id === id),
                  1,
                );
              },
              () => {},
            );
          }
        } else if (kind === "release" && inside.length > 0) {
          inside.splice(who % inside.length, 1)[0]!.place.release();
        } else if (kind === "abort" && line.length > 0) {
          line.splice(who % line.length, 1)[0]!.gone.abort(new Error("gone"));
        }
        await settle();
        assert.equal(admission.active, inside.length);
        assert.equal(admission.queued, line.length);
        assert.ok(inside.length <= concurrency && line.length <= queueDepth);
        assert.ok(inside.length === concurrency || line.length === 0, "somebody waits beside an idle place");
        assert.deepEqual(
          admitted,
          [...admitted].sort((a, b) => a - b),
          "somebody was passed by",
        );
      }
      admission.close();
    };
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.nat(3), fc.array(deed, { maxLength: 40 }), run),
    );
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
        admission.enter(key, NEVER, nobody, isBegun, leastS),
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
