import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BucketsError, type SharedBuckets, type SharedReading } from "../../../src/accounts/buckets.ts";
import { PARTS_A_TOKEN } from "../../../src/accounts/token-bucket.ts";
import { GuardedBuckets, type GuardOptions } from "../../../src/accounts/valkey/guarded-buckets.ts";
import { stillClock } from "../buckets-worlds.ts";

const TERMS = { rpm: 60, burst: 3 };

type Answer = () => Promise<SharedReading>;

const says =
  (tokens: number, allowed = true): Answer =>
  async () => ({ allowed, parts: tokens * PARTS_A_TOKEN });
const fails: Answer = () => Promise.reject(new BucketsError("It is away."));
const hangs: Answer = () => new Promise(() => {});

async function guarded(first: Answer, options: Partial<GuardOptions> = {}) {
  const clock = stillClock();
  const messages: string[] = [];
  const world = { asked: 0, answer: first, clock, messages };
  const ask = () => {
    world.asked += 1;
    return world.answer();
  };
  const shared: SharedBuckets = {
    place: "10.0.0.7:6379",
    connected: async () => {},
    take: ask,
    peek: ask,
    close: () => messages.push("closed"),
  };
  const buckets = await GuardedBuckets.open(shared, {
    timeoutMs: 5,
    onFailure: (message) => messages.push(message),
    onRecovery: () => messages.push("well"),
    onTakeAlone: () => messages.push("alone"),
    nowMs: clock.read,
    ...options,
  });
  return Object.assign(world, { buckets });
}

describe("guarded buckets", () => {
  it("return what the shared buckets return", async () => {
    const { buckets, messages } = await guarded(says(2));
    assert.deepEqual(await buckets.take("key_a", TERMS), {
      limit: 60,
      burst: 3,
      allowed: true,
      remaining: 2,
      resetS: 1,
      retryAfterMs: 0,
    });
    assert.deepEqual(messages, []);
  });

  it("continue from the last known state when the shared buckets fail", async () => {
    const world = await guarded(says(1));
    await world.buckets.take("key_a", TERMS);
    world.answer = fails;
    assert.equal((await world.buckets.peek("key_a", TERMS)).remaining, 1);
    assert.equal((await world.buckets.take("key_a", TERMS)).allowed, true);
    const refused = await world.buckets.take("key_a", TERMS);
    assert.deepEqual([refused.allowed, refused.retryAfterMs], [false, 1_000]);
    world.clock.nowMs += 1_000;
    assert.equal((await world.buckets.take("key_a", TERMS)).allowed, true);
    assert.equal((await world.buckets.take("key_new", TERMS)).remaining, 2, "an unknown key is full");
    world.answer = says(2);
    world.clock.nowMs += 1_000;
    assert.equal((await world.buckets.take("key_a", TERMS)).remaining, 2, "and what is shared counts again");
  });

  it("answer in time if the shared ones do not, and ignore late answers", async () => {
    let answerLate = (_reading: SharedReading) => {};
    const world = await guarded(
      () =>
        new Promise((resolve) => {
          answerLate = resolve;
        }),
    );
    assert.equal((await world.buckets.take("key_a", TERMS)).remaining, 2);
    answerLate({ allowed: true, parts: 0 });
    await new Promise(setImmediate);
    assert.equal(world.buckets.recall("key_a", TERMS).remaining, 2);
  });

  it("pause for a second after three failures, then probe one at a time", async () => {
    const world = await guarded(fails);
    const { buckets, clock, messages } = world;
    const take = (count: number) =>
      Promise.all(Array.from({ length: count }, () => buckets.take("key_a", TERMS)));
    for (let i = 0; i < 5; i++) await take(1);
    assert.equal(world.asked, 3);
    clock.nowMs += 999;
    await take(5);
    assert.equal(world.asked, 3);
    clock.nowMs += 1;
    await take(5);
    assert.equal(world.asked, 4, "one tries");
    clock.nowMs += 999;
    await take(5);
    assert.equal(world.asked, 4);
    world.answer = says(2);
    clock.nowMs += 1;
    await take(1);
    await take(5);
    assert.equal(world.asked, 10, "all ask again");
    assert.deepEqual(
      messages.filter((each) => each !== "alone"),
      ["It is away.", "well"],
    );
    assert.equal(messages.filter((each) => each === "alone").length, 3 + 2 + 5 + 5 + 5);
  });

  it("do not take an occasional failure for an outage", async () => {
    const world = await guarded(fails);
    for (let i = 0; i < 9; i++) {
      world.answer = i % 3 === 2 ? says(1) : fails;
      await world.buckets.take("key_a", TERMS);
    }
    assert.equal(world.asked, 9);
    assert.deepEqual(new Set(world.messages), new Set(["alone"]));
  });

  it("resume takes only after a successful take, not a peek", async () => {
    const world = await guarded(fails);
    const { buckets, clock } = world;
    for (let i = 0; i < 3; i++) {
      world.answer = says(1);
      await buckets.peek("key_a", TERMS);
      world.answer = fails;
      await (i === 1 ? buckets.peek("key_a", TERMS) : buckets.take("key_a", TERMS));
    }
    assert.deepEqual(world.messages, ["alone", "It is away.", "alone"]);
    world.answer = says(1);
    clock.nowMs += 1_000;
    await buckets.peek("key_a", TERMS);
    assert.equal(world.asked, 6, "nor is it asked for one meanwhile");
    await buckets.take("key_a", TERMS);
    assert.equal(world.messages.at(-1), "well");
  });

  it("name the place and the wait if no answer came in time", async () => {
    const { buckets, messages } = await guarded(hangs);
    for (let i = 0; i < 3; i++) await buckets.take("key_a", TERMS);
    assert.match(`${messages.at(-2)}`, /10\.0\.0\.7:6379.*5 ms/);
  });

  it("use an answer that came in time but was read late", async () => {
    const channel = new MessageChannel();
    const world = await guarded(
      () =>
        new Promise((resolve) => {
          channel.port1.once("message", () => resolve({ allowed: true, parts: PARTS_A_TOKEN }));
          channel.port2.postMessage("it is here before anybody looks");
        }),
    );
    // The event loop now runs its timers before it polls for messages.
    await new Promise(setImmediate);
    const taking = world.buckets.take("key_a", TERMS);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    assert.equal((await taking).remaining, 1);
    assert.deepEqual(world.messages, []);
    channel.port1.close();
  });

  it("start if the shared ones are unreachable, and report it", async () => {
    const messages: string[] = [];
    const away = () => Promise.reject(new BucketsError("It is away."));
    const buckets = await GuardedBuckets.open(
      { place: "nowhere", connected: away, take: () => assert.fail("asked"), peek: away, close() {} },
      { timeoutMs: 5, onFailure: (message) => messages.push(message), nowMs: () => 0 },
    );
    assert.equal((await buckets.take("key_a", TERMS)).remaining, 2);
    assert.deepEqual(messages, ["It is away."]);
  });

  it("close the shared ones", async () => {
    const { buckets, messages } = await guarded(says(1));
    buckets.close();
    assert.deepEqual(messages, ["closed"]);
  });
});
