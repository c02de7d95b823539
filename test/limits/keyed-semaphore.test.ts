import assert from "node:assert/strict";
import { afterEach, describe, it, mock, test } from "node:test";
import {
  KeyedSemaphore,
  type KeyedSemaphoreOptions,
  type Permit,
  RecentUse,
} from "../../src/limits/keyed-semaphore.ts";
import fc from "../properties.ts";
import { settle } from "../serving/service-over.ts";

const NEVER = new AbortController().signal;
const OPTIONS: KeyedSemaphoreOptions = {
  what: "things",
  total: 10,
  perKey: 6,
  queueDepth: 4,
  keyQueueDepth: 2,
  waitMs: 1_000,
};

const opened: KeyedSemaphore[] = [];

function openSemaphore(options: Partial<KeyedSemaphoreOptions> = {}): KeyedSemaphore {
  const share = new KeyedSemaphore({ ...OPTIONS, ...options });
  opened.push(share);
  return share;
}

describe("a KeyedSemaphore", () => {
  afterEach(() => {
    for (const share of opened.splice(0)) share.close();
  });

  it("grants units up to each key's limit, and counts them", async () => {
    const share = openSemaphore();
    const first = await share.enter("a", 6, NEVER);
    let isAdmitted = false;
    const second = share.enter("a", 1, NEVER).then((permit) => {
      isAdmitted = true;
      return permit;
    });
    await share.enter("b", 4, NEVER);
    await settle();
    assert.deepEqual([share.used, share.queued, isAdmitted], [10, 1, false]);
    first.shrink(5);
    await second;
    assert.deepEqual([share.used, share.queued], [10, 0]);
  });

  it("admits a key with room while another waits for its own limit", async () => {
    const share = openSemaphore();
    await share.enter("a", 6, NEVER);
    share.enter("a", 1, NEVER).catch(() => {});
    const other = await share.enter("b", 3, NEVER);
    assert.equal(share.used, 9);
    other.release();
  });

  it("caps a request at the key's limit", async () => {
    const share = openSemaphore();
    await share.enter("a", 1_000, NEVER);
    assert.equal(share.used, 6);
  });

  it("serves waiting keys in turn", async () => {
    const share = openSemaphore({ perKey: 10, queueDepth: 10, keyQueueDepth: 10 });
    const permits = [await share.enter("a", 10, NEVER)];
    const order: string[] = [];
    for (const key of ["a", "a", "a", "b", "b", "c"]) {
      share.enter(key, 10, NEVER).then((permit) => {
        order.push(key);
        permits.push(permit);
      });
    }
    for (let i = 0; i < 6; i++) {
      permits[i]!.release();
      await settle();
    }
    assert.deepEqual(order, ["a", "b", "c", "a", "b", "a"]);
  });

  it("serves the lowest rank first, and after a second the oldest", async () => {
    const now = mock.method(performance, "now", () => 0);
    const share = openSemaphore({ total: 1, perKey: 1, queueDepth: 9, keyQueueDepth: 9, waitMs: 9_000 });
    const permits = [await share.enter("a", 1, NEVER)];
    const order: number[] = [];
    const ask = (rank: number, key = "a") =>
      share.enter(key, 1, NEVER, 9_000, { rank: () => rank }).then((permit) => {
        order.push(rank);
        permits.push(permit);
      });
    for (const rank of [2, 3, 1, 4]) ask(rank);
    permits[0]!.release();
    await settle();
    now.mock.mockImplementation(() => 1_000);
    for (const rank of [0, 0.5]) ask(rank);
    for (let i = 1; i < 6; i++) {
      permits[i]!.release();
      await settle();
    }
    assert.deepEqual(order, [1, 2, 3, 4, 0, 0.5]);
    mock.restoreAll();
  });

  it("asks one request of lower rank to give up its units, and only if that helps", async () => {
    const wanted: string[] = [];
    const share = openSemaphore({ total: 4, perKey: 2, queueDepth: 9, keyQueueDepth: 9 });
    const draft = (key: string, name: string) =>
      share.enter(key, 1, NEVER, 9_000, { rank: () => 2, onWanted: () => wanted.push(name) });
    const urgent = (key: string) => void share.enter(key, 1, NEVER, 9_000, { rank: () => 0 }).catch(() => {});
    await draft("b", "b1");
    await draft("b", "b2");
    for (const _ of [1, 2, 3]) urgent("a");
    await settle();
    assert.deepEqual(wanted, [], "the key a has all it may have");
    urgent("c");
    assert.deepEqual(wanted, ["b1"]);
    urgent("d");
    assert.deepEqual(wanted, ["b1", "b2"]);
    share.close();
  });

  it("does not starve a large request for small ones", async () => {
    const share = openSemaphore({ perKey: 10 });
    const small = await share.enter("a", 1, NEVER);
    let isAdmitted = false;
    void share.enter("b", 10, NEVER).then(
      () => {
        isAdmitted = true;
      },
      () => {},
    );
    let isSmallAdmitted = false;
    share.enter("c", 1, NEVER).then(
      () => {
        isSmallAdmitted = true;
      },
      () => {},
    );
    await settle();
    assert.deepEqual([isAdmitted, isSmallAdmitted], [false, false]);
    small.release();
    await settle();
    assert.deepEqual([isAdmitted, isSmallAdmitted], [true, false]);
  });

  it("refuses over a full queue: 429 for the key's, 502 for the shared one", async () => {
    const share = openSemaphore({ queueDepth: 3 });
    await share.enter("x", 6, NEVER);
    await share.enter("y", 4, NEVER);
    const waiting = [share.enter("a", 1, NEVER)];
    const last = share.enter("a", 1, NEVER);
    await assert.rejects(share.enter("a", 1, NEVER), { status: 429, retryAfterMs: 1_000 });
    waiting.push(share.enter("b", 1, NEVER));
    waiting.push(share.enter("c", 1, NEVER));
    await assert.rejects(last, { status: 502, retryAfterMs: 1_000 });
    await assert.rejects(share.enter("d", 1, NEVER), { status: 502, retryAfterMs: 1_000 });
    share.close();
    for (const each of waiting) await assert.rejects(each, { status: 502, message: /shutting down/ });
    await assert.rejects(share.enter("d", 1, NEVER), { status: 502 });
  });

  it("refuses a request that has waited too long", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const share = openSemaphore();
      await share.enter("a", 6, NEVER);
      const late = share.enter("a", 1, NEVER);
      mock.timers.tick(1_000);
      await assert.rejects(late, { status: 502 });
      assert.equal(share.queued, 0);
    } finally {
      mock.timers.reset();
    }
  });

  it("releases a permit once, and never shrinks it below its units", async () => {
    const share = openSemaphore();
    const permit = await share.enter("a", 2, NEVER);
    permit.shrink(50);
    assert.deepEqual([share.used, permit.units], [2, 2]);
    permit.release();
    permit.release();
    permit.shrink(3);
    assert.deepEqual([share.used, permit.units], [0, 0]);
  });

  it("keeps its limits, leaves no room idle and starves no request, in any order of events", async () => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constant("enter" as const),
          key: fc.constantFrom("a", "b", "c"),
          units: fc.integer({ min: 1, max: 12 }),
        }),
      },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant("release" as const), who: fc.nat(20) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("abort" as const), who: fc.nat(20) }) },
    );
    const run = async (steps: (typeof step extends fc.Arbitrary<infer T> ? T : never)[]) => {
      const share = openSemaphore({ queueDepth: 1_000, keyQueueDepth: 1_000, waitMs: 60_000 });
      const waiting = new Map<AbortController, { key: string; units: number }>();
      const inside: { key: string; units: number; permit: Permit }[] = [];
      for (const each of steps) {
        if (each.kind === "enter") {
          const gone = new AbortController();
          const units = Math.min(each.units, 6);
          waiting.set(gone, { key: each.key, units });
          share.enter(each.key, each.units, gone.signal).then(
            (permit) => {
              waiting.delete(gone);
              inside.push({ key: each.key, units, permit });
            },
            () => waiting.delete(gone),
          );
        } else if (each.kind === "release") {
          inside.splice(each.who % Math.max(1, inside.length), 1)[0]?.permit.release();
        } else [...waiting.keys()][each.who % Math.max(1, waiting.size)]?.abort(new Error("gone"));
        await settle();
        const used = inside.reduce((sum, { units }) => sum + units, 0);
        assert.deepEqual([share.used, share.queued], [used, waiting.size]);
        const ofKey = (key: string) =>
          inside.filter((one) => one.key === key).reduce((sum, { units }) => sum + units, 0);
        for (const key of ["a", "b", "c"]) assert.ok(ofKey(key) <= 6);
        assert.ok(used <= 10);
        // A key's first request may wait only if it does not fit, or if another key's request is ahead of it.
        for (const key of ["a", "b", "c"]) {
          const first = [...waiting.values()].find((one) => one.key === key);
          const fits = first !== undefined && used + first.units <= 10 && ofKey(key) + first.units <= 6;
          const isBehindOther = [...waiting.values()].some(
            (one) => one.key !== key && ofKey(one.key) + one.units <= 6 && used + one.units > 10,
          );
          assert.ok(!fits || isBehindOther, "a request waits although there is room");
        }
      }
      share.close();
      await settle();
      assert.equal(waiting.size, 0);
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), run), { numRuns: 200 });
  });
});

describe("recent use", () => {
  test("is a mean that decays within minutes", () => {
    let nowMs = 0;
    const use = new RecentUse(() => nowMs);
    for (let second = 0; second < 300; second += 1) {
      nowMs += 1_000;
      use.add("a", 500);
      use.add("b", 100);
    }
    assert.ok(Math.abs(use.meanOf("a") - 0.5) < 0.02, `${use.meanOf("a")}`);
    assert.ok(Math.abs(use.total - 0.6) < 0.02, `${use.total}`);
    assert.equal(use.activeKeys, 2);
    nowMs += 400_000;
    assert.equal(use.activeKeys, 0);
    assert.equal(use.meanOf("c"), 0);
  });
});
