import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { it } from "node:test";
import { openGateClassifier } from "../../../src/writers/gate/gate-classifier.ts";
import { never } from "../dialogues.ts";
import { heapHolds } from "../llama/heap-holds.ts";

it("the trained gate keeps no text in memory after the verdict", async () => {
  const gate = await openGateClassifier();
  // Letters as numbers: only the code under test makes a string of them.
  const [said, left, held] = [letters(), letters(), letters()];
  const kept = textOf(held);
  await (async () => {
    await gate.classify([`${textOf(said)} was here`, `and ${textOf(said)} again`], never());
    const leave = new AbortController();
    const leaving = gate.classify([`${textOf(left)} was here`], leave.signal);
    leave.abort();
    await assert.rejects(leaving);
  })();
  // V8 keeps the last text that a regular expression ran on.
  await gate.classify(["Hello."], never());
  assert.deepEqual(await heapHolds([said, left, held]), [false, false, true], "said, left, held");
  assert.equal(kept.length, held.length);
  await gate.close();
});

function letters(): Uint8Array {
  return Uint8Array.from({ length: 24 }, () => randomInt(97, 123));
}

function textOf(codes: Uint8Array): string {
  return String.fromCharCode(...codes);
}
