import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ThreadChoice } from "../../src/writers/llama/thread-choice.ts";

/** A model on four threads, whose work takes as long as it is told to, on a machine of as many cores. */
function machine({ oneMs = 10, allMs = 4, isQuiet = true, othersCores = 0 } = {}) {
  const llama = { maxThreads: 0 };
  const state = { nowMs: 0, oneMs, allMs, isQuiet, othersCores };
  let beganMs = 0;
  const choice = new ThreadChoice(llama, 4, () => state.isQuiet, {
    nowMs: () => state.nowMs,
    idle: {
      begin: () => {
        beganMs = state.nowMs;
      },
      sinceBegin: () => (state.nowMs - beganMs < 5 ? null : 3 - state.othersCores),
    },
  });
  /** How many threads so many pieces of work had each. */
  const work = async (tokens: number, count: number) => {
    const threads: number[] = [];
    for (let i = 0; i < count; i++) {
      await choice.during(tokens, async () => {
        threads.push(Math.min(llama.maxThreads, 4));
        state.nowMs += tokens * (llama.maxThreads === 1 ? state.oneMs : state.allMs);
      });
    }
    return threads;
  };
  return { state, work };
}

describe("the choice of threads", () => {
  it("is all of them after one was tried, where they are faster", async () => {
    const { work } = machine();
    assert.deepEqual(await work(32, 4), [1, 4, 4, 4]);
    assert.deepEqual(await work(1, 3), [1, 4, 4]);
  });

  it("is one where all are no faster, and all are tried again later", async () => {
    const { state, work } = machine({ allMs: 30 });
    assert.deepEqual(await work(1, 5), [1, 4, 1, 1, 1]);
    state.nowMs += 20_000;
    assert.deepEqual(await work(1, 4), [1, 4, 1, 1]);
    state.nowMs += 20_000;
    state.allMs = 4;
    assert.deepEqual(await work(1, 4), [1, 4, 4, 4]);
  });

  it("is made for reading and for writing each by itself", async () => {
    const { state, work } = machine();
    await work(32, 2);
    state.allMs = 30;
    assert.deepEqual(await work(1, 3), [1, 4, 1]);
    state.allMs = 4;
    assert.deepEqual(await work(32, 2), [4, 4]);
  });

  it("is one while somebody is spoken to, of which nothing is learnt", async () => {
    const { state, work } = machine({ isQuiet: false });
    assert.deepEqual(await work(32, 3), [1, 1, 1]);
    state.isQuiet = true;
    assert.deepEqual(await work(32, 3), [1, 4, 4]);
    state.isQuiet = false;
    assert.deepEqual(await work(32, 2), [1, 1]);
  });

  it("is one where the other cores are at something else", async () => {
    const { state, work } = machine({ othersCores: 1 });
    assert.deepEqual(await work(32, 5), [1, 1, 1, 1, 1]);
    state.othersCores = 0;
    assert.deepEqual(await work(32, 3), [1, 4, 4]);
  });

  it("is one again after a pause, in which anything may have begun", async () => {
    const { state, work } = machine();
    await work(32, 3);
    state.nowMs += 3_000;
    assert.deepEqual(await work(32, 3), [1, 4, 4]);
  });

  it("falls to one when the machine gets other things to do", async () => {
    const { state, work } = machine();
    await work(1, 5);
    state.allMs = 100;
    const threads = await work(1, 4);
    assert.deepEqual(threads.slice(-2), [1, 1], threads.join());
  });
});
