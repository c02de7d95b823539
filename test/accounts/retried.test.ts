import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { monotonicMs } from "../../src/accounts/deadline.ts";
import { TimedSemaphore } from "../../src/accounts/postgres/connections.ts";
import { retried } from "../../src/accounts/postgres/retrying-database.ts";

const passes = (error: unknown) => (error as Error).message !== "stays";
const saysLittle = (error: unknown) => (error as Error).message === "late";
const soon = () => monotonicMs() + 60_000;

describe("retried work", () => {
  it("ends with the first success, and passes the attempt", async () => {
    const tries: number[] = [];
    const result = await retried(
      async (nth) => {
        tries.push(nth);
        if (nth < 4) throw new Error("passes");
        return "done";
      },
      { untilMs: soon(), passes, saysLittle },
    );
    assert.deepEqual([result, tries], ["done", [1, 2, 3, 4]]);
  });

  it("ends at once for a permanent error", async () => {
    let tries = 0;
    const work = async () => {
      tries += 1;
      throw new Error(tries === 2 ? "stays" : "passes");
    };
    await assert.rejects(retried(work, { untilMs: soon(), passes, saysLittle }), /stays/);
    assert.equal(tries, 2);
  });

  it("ends with its last failure after the time limit", async () => {
    let tries = 0;
    const limits = { untilMs: soon(), passes, saysLittle };
    const work = async () => {
      tries += 1;
      if (tries === 5) limits.untilMs = monotonicMs();
      throw new Error(`${tries}`);
    };
    await assert.rejects(retried(work, limits), /^Error: 5$/);
    await assert.rejects(retried(work, limits), /^Error: 6$/, "one try is made in any case");
  });

  it("ends with the last informative failure", async () => {
    const said = ["refused", "late", "denied", "late"];
    const limits = { untilMs: soon(), passes, saysLittle };
    const work = async (nth: number) => {
      if (nth === said.length) limits.untilMs = monotonicMs();
      throw new Error(said[nth - 1]);
    };
    await assert.rejects(retried(work, limits), /denied/);
    await assert.rejects(
      retried(async () => Promise.reject(new Error("late")), limits),
      /late/,
    );
  });
});

describe("slots", () => {
  it("are granted in order, up to the limit", async () => {
    const slots = new TimedSemaphore(2);
    const order: string[] = [];
    const waits = ["a", "b", "c", "d"].map(async (name) => {
      assert.equal(await slots.acquire(60_000), true);
      order.push(name);
    });
    await Promise.all(waits.slice(0, 2));
    assert.deepEqual(order, ["a", "b"]);
    slots.release();
    await waits[2];
    slots.release();
    await waits[3];
    assert.deepEqual(order, ["a", "b", "c", "d"]);
  });

  it("reject a caller after the time limit", async () => {
    const slots = new TimedSemaphore(1);
    assert.equal(await slots.acquire(60_000), true);
    assert.equal(await slots.acquire(1), false);
    const next = slots.acquire(60_000);
    slots.release();
    assert.equal(await next, true);
    slots.release();
    assert.equal(await slots.acquire(0), true);
  });
});
