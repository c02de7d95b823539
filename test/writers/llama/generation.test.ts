import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type CachedSequence,
  commonPrefixLength,
  SequencePool,
} from "../../../src/writers/llama/generation.ts";
import type { LlamaContextSequence, Token } from "../../../src/writers/llama/llama-runtime.ts";
import fc from "../../properties.ts";
import { within } from "../../waiting.ts";
import { never } from "../dialogues.ts";

const poolOf = (count: number) =>
  new SequencePool(Array.from({ length: count }, () => ({}) as LlamaContextSequence));
const tokens = (text: string) => [...text].map((letter) => letter.charCodeAt(0) as Token);
const taken = (taking: Promise<CachedSequence>) => within("a sequence", taking);
const nextOf = (pool: SequencePool) => taken(pool.take([], never()));

describe("SequencePool", () => {
  test("lends each sequence to one request, in order of arrival", async () => {
    const pool = poolOf(2);
    const [first, second] = [await nextOf(pool), await nextOf(pool)];
    assert.notEqual(first, second);
    const order: string[] = [];
    const waiting = ["third", "fourth"].map((name) =>
      pool.take([], never()).then((sequence) => {
        order.push(name);
        return sequence;
      }),
    );
    pool.release(second);
    assert.equal(await taken(waiting[0]!), second);
    pool.release(first);
    assert.equal(await taken(waiting[1]!), first);
    assert.deepEqual(order, ["third", "fourth"]);
  });

  test("skips an aborted request, and keeps its sequence for the next", async () => {
    const pool = poolOf(1);
    const only = await nextOf(pool);
    const leaving = new AbortController();
    const left = pool.take([], leaving.signal);
    const stays = pool.take([], never());
    leaving.abort(new Error("gone"));
    await assert.rejects(left, /gone/);
    pool.release(only);
    assert.equal(await taken(stays), only);
    const alone = new AbortController();
    const leftToo = pool.take([], alone.signal);
    alone.abort(new Error("gone too"));
    await assert.rejects(leftToo, /gone too/);
    pool.release(only);
    assert.equal(await nextOf(pool), only);
  });

  test("leaves a sequence with the request that got it, even if its signal aborts in the same tick", async () => {
    const pool = poolOf(1);
    const only = await nextOf(pool);
    const leaving = new AbortController();
    const given = pool.take([], leaving.signal);
    const next = pool.take([], never());
    pool.release(only);
    leaving.abort(new Error("too late"));
    const late = await taken(given);
    pool.release(late);
    assert.equal(await taken(next), only);
  });

  test("rejects a signal that is already aborted", async () => {
    const pool = poolOf(1);
    await assert.rejects(pool.take([], AbortSignal.abort(new Error("gone"))), /gone/);
    await nextOf(pool);
  });

  test("leaves no listener on a signal", async () => {
    const pool = poolOf(1);
    const only = await nextOf(pool);
    const signal = never();
    const listeners: unknown[] = [];
    signal.addEventListener = (_type: string, listener: unknown) => void listeners.push(listener);
    signal.removeEventListener = (_type: string, listener: unknown) =>
      void listeners.splice(listeners.indexOf(listener), 1);
    const waiting = pool.take([], signal);
    assert.equal(listeners.length, 1);
    pool.release(only);
    await taken(waiting);
    assert.equal(listeners.length, 0);
  });

  test("prefers the sequence with the longest common prefix, then the least recently used", async () => {
    const pool = poolOf(3);
    const all = await Promise.all(["cat", "cab", ""].map(() => taken(pool.take([], never()))));
    for (const [index, text] of ["cat", "cab", ""].entries()) {
      all[index]!.read = tokens(text);
      pool.release(all[index]!);
    }
    const [cat, cab, empty] = all;
    assert.equal(await taken(pool.take(tokens("cabin"), never())), cab);
    pool.release(cab!);
    assert.equal(await taken(pool.take(tokens("cap"), never())), cat);
    pool.release(cat!);
    assert.equal(await taken(pool.take(tokens("dog"), never())), empty);
  });

  test("never loses a sequence, lends it twice or lets a request wait for a free one", async () => {
    const deed = fc.record({ kind: fc.constantFrom("take", "take", "giveBack", "abort"), who: fc.nat(20) });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(deed, { maxLength: 40 }),
        async (count, deeds) => {
          const pool = poolOf(count);
          const line: { id: number; leaving: AbortController }[] = [];
          const lent: CachedSequence[] = [];
          const served: number[] = [];
          for (const [id, { kind, who }] of deeds.entries()) {
            if (kind === "take") {
              const waiter = { id, leaving: new AbortController() };
              line.push(waiter);
              const leave = () => void line.splice(line.indexOf(waiter), 1);
              pool.take([], waiter.leaving.signal).then((sequence) => {
                leave();
                served.push(id);
                lent.push(sequence);
              }, leave);
            } else if (kind === "giveBack" && lent.length > 0) {
              pool.release(lent.splice(who % lent.length, 1)[0]!);
            } else if (kind === "abort" && line.length > 0) {
              line[who % line.length]!.leaving.abort(new Error("gone"));
            }
            await new Promise((resolve) => setImmediate(resolve));
            assert.equal(new Set(lent).size, lent.length, "lent twice");
            assert.ok(lent.length === count || line.length === 0, "waits for a free sequence");
          }
          assert.deepEqual(
            served,
            served.toSorted((a, b) => a - b),
            "out of order",
          );
        },
      ),
    );
  });
});

test("commonPrefixLength counts the tokens that two lists begin with", () => {
  for (const [left, right, count] of [
    ["", "", 0],
    ["cat", "", 0],
    ["cat", "cat", 3],
    ["cat", "cattle", 3],
    ["cattle", "cat", 3],
    ["cat", "cut", 1],
    ["cat", "hat", 0],
  ] as const)
    assert.equal(commonPrefixLength(tokens(left), tokens(right)), count, `${left} and ${right}`);
});
