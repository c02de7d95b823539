import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AsyncQueue } from "../../../src/serving/reply/async-queue.ts";

async function allOf(things: AsyncQueue<string>): Promise<string[]> {
  const taken: string[] = [];
  for await (const thing of things.values()) taken.push(thing);
  return taken;
}

describe("an AsyncQueue", () => {
  test("yields values in order, before or after they are awaited", async () => {
    const things = new AsyncQueue<string>();
    things.push("a");
    let waits = 0;
    const all = things.values(() => waits++);
    assert.equal((await all.next()).value, "a");
    assert.deepEqual([waits, things.lastArrivalS], [0, 0]);
    const next = all.next();
    await new Promise(setImmediate);
    assert.deepEqual([waits, things.isAwaited], [1, true]);
    const before = performance.now() / 1_000;
    things.push("b");
    things.push("c");
    things.end();
    assert.equal((await next).value, "b");
    assert.ok(things.lastArrivalS >= before);
    assert.equal(things.isAwaited, false);
    things.push("too late");
    assert.deepEqual([(await all.next()).value, (await all.next()).done], ["c", true]);
    assert.equal(await things.hasNext(), false);
  });

  test("yields all values before it throws its failure", async () => {
    const things = new AsyncQueue<string>();
    things.push("a");
    things.fail(new Error("broken"));
    things.end();
    assert.equal(things.isEnded, true);
    const all = things.values();
    assert.deepEqual([(await all.next()).value, await all.next().catch(String)], ["a", "Error: broken"]);
    await assert.rejects(things.hasNext(), /broken/);
  });

  test("drops its values on abort, unless it has ended", async () => {
    const things = new AsyncQueue<string>();
    things.push("a");
    things.abort(new Error("gone"));
    await assert.rejects(allOf(things), /gone/);
    const whole = new AsyncQueue<string>();
    whole.end();
    whole.abort(new Error("gone"));
    assert.deepEqual(await allOf(whole), []);
  });
});
