import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Arrivals } from "../../../src/serving/reply/async-queue.ts";

async function allOf(things: Arrivals<string>): Promise<string[]> {
  const taken: string[] = [];
  for await (const thing of things.all()) taken.push(thing);
  return taken;
}

describe("things that arrive", () => {
  test("are taken in their order, whether they came before they were waited for or after", async () => {
    const things = new Arrivals<string>();
    things.add("a");
    let waits = 0;
    const all = things.all(() => waits++);
    assert.equal((await all.next()).value, "a");
    assert.deepEqual([waits, things.cameAtS], [0, 0]);
    const next = all.next();
    await new Promise(setImmediate);
    assert.deepEqual([waits, things.isAwaited], [1, true]);
    const before = performance.now() / 1_000;
    things.add("b");
    things.add("c");
    things.end();
    assert.equal((await next).value, "b");
    assert.ok(things.cameAtS >= before);
    assert.equal(things.isAwaited, false);
    things.add("too late");
    assert.deepEqual([(await all.next()).value, (await all.next()).done], ["c", true]);
    assert.equal(await things.arrived(), false);
  });

  test("are all taken before one is told what they failed with", async () => {
    const things = new Arrivals<string>();
    things.add("a");
    things.fail(new Error("broken"));
    things.end();
    assert.equal(things.isOver, true);
    const all = things.all();
    assert.equal((await all.next()).value, "a");
    await assert.rejects(all.next(), /broken/);
    await assert.rejects(things.arrived(), /broken/);
  });

  test("that are dropped are not taken any more, and an end that was told before stays the end", async () => {
    const things = new Arrivals<string>();
    things.add("a");
    things.drop(new Error("gone"));
    await assert.rejects(allOf(things), /gone/);
    const whole = new Arrivals<string>();
    whole.end();
    whole.drop(new Error("gone"));
    assert.deepEqual(await allOf(whole), []);
  });
});
