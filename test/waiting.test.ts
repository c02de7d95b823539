import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { until, within } from "./waiting.ts";

const never = () => new Promise<never>(() => {});

describe("a wait", () => {
  it("is over when what it waits for is so, at once or after a while", async () => {
    let asked = 0;
    await until("nothing", () => true);
    await until("the hundredth question", async () => ++asked === 100);
    assert.equal(asked, 100);
  });

  it("fails at its deadline, names what it waited for and where, and asks no more", async () => {
    let asked = 0;
    const waiting = until("a green elephant", () => ++asked < 0, { deadlineMs: 20 });
    await assert.rejects(waiting, (error: Error) => {
      assert.equal(error.message, "waited 20 ms in vain for a green elephant");
      assert.match(error.stack ?? "", /waiting\.test/);
      return true;
    });
    const whenOver = asked;
    let others = 0;
    await until("some pauses of another wait", () => ++others === 80);
    assert.ok(asked <= whenOver + 1, `${asked - whenOver} times`);
  });

  it("fails at its deadline when the question is never answered, or the promise never settles", async () => {
    await assert.rejects(until("an answer", never, { deadlineMs: 5 }), /in vain for an answer/);
    await assert.rejects(within("an event", never(), { deadlineMs: 5 }), /in vain for an event/);
  });

  it("throws what the question throws, and what the promise is rejected with", async () => {
    const fail = () => assert.fail("no such thing");
    await assert.rejects(until("it", fail), /no such thing/);
    await assert.rejects(within("it", Promise.reject(new Error("gone"))), /gone/);
  });

  it("does not burn a processor while it takes long", async () => {
    let asked = 0;
    await assert.rejects(until("it", () => ++asked < 0, { deadlineMs: 200 }));
    assert.ok(asked < 200, `${asked} questions`);
  });

  it("keeps to the real clock where a test has the timers in its hands", async () => {
    mock.timers.enable({ apis: ["setTimeout", "setImmediate"] });
    try {
      await assert.rejects(
        until("it", () => false, { deadlineMs: 5 }),
        /in vain/,
      );
    } finally {
      mock.timers.reset();
    }
  });
});
