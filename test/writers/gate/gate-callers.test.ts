import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, test } from "node:test";
import { type GateClassifier, openGateClassifier } from "../../../src/writers/gate/gate-classifier.ts";
import { longHistory, never } from "../dialogues.ts";
import { heapHolds } from "../llama/heap-holds.ts";

let gate: GateClassifier;
before(async () => {
  gate = await openGateClassifier();
});
after(() => gate.close());

test("a short turn does not wait for the long ones of others that came before it", async () => {
  const leave = new AbortController();
  let done = 0;
  const flood = Array.from({ length: 20 }, (_, i) =>
    gate
      .classify(
        longHistory().map(({ text }) => `${i} ${text}`),
        leave.signal,
      )
      .then(() => done++)
      .catch(() => {}),
  );
  assert.equal((await gate.classify(["I want to kill myself."], never())).category, "self-harm");
  assert.equal(done, 0);
  leave.abort();
  await Promise.all(flood);
});

test("of two long turns at once neither is done far ahead of the other, and both are right", async () => {
  const talk = "We went to the market and bought apples and bread, and then we looked at the old houses. ";
  const ended: string[] = [];
  const judge = async (name: string, line: string) => {
    const { category } = await gate.classify([line], never());
    ended.push(name);
    return category;
  };
  const verdicts = await Promise.all([
    judge("long", `${talk.repeat(60)}I want to kill myself.`),
    judge("short", `${talk.repeat(10)}Shall we go again?`),
  ]);
  assert.deepEqual(verdicts, ["self-harm", null]);
  assert.deepEqual(ended, ["short", "long"]);
});

test("nothing of what was said is kept in memory when the verdict is there", async () => {
  // Letters as numbers: only what is under test makes a string of them.
  const [said, left, held] = [letters(), letters(), letters()];
  const kept = textOf(held);
  await (async () => {
    await gate.classify([`${textOf(said)} was here`, `and ${textOf(said)} again`], never());
    const leave = new AbortController();
    const leaving = gate.classify([`${textOf(left)} was here`], leave.signal);
    leave.abort();
    await assert.rejects(leaving);
  })();
  // Node remembers the last text that a pattern was looked for in.
  await gate.classify(["Hello."], never());
  assert.deepEqual(await heapHolds([said, left, held]), [false, false, true], "said, left, held");
  assert.equal(kept.length, held.length);
});

function letters(): Uint8Array {
  return Uint8Array.from({ length: 24 }, () => randomInt(97, 123));
}

function textOf(codes: Uint8Array): string {
  return String.fromCharCode(...codes);
}
