import assert from "node:assert/strict";
import { test } from "node:test";
import { awaitOutside, createGate, createGuard, shutGate } from "../../../src/workers/calls/native-gate.ts";

class Ended extends Error {}

function gateWithGuard() {
  const gate = createGate();
  const guard = createGuard(gate, () => {
    throw new Ended();
  });
  return { gate, guard };
}

test("a thread outside native code may be ended and cannot enter again", () => {
  const { gate, guard } = gateWithGuard();
  guard.enter();
  guard.leave();
  assert.equal(shutGate(gate), true);
  assert.throws(() => guard.enter(), Ended);
  awaitOutside(gate, Number.POSITIVE_INFINITY);
});

test("a thread inside native code ends itself when it leaves", () => {
  const { gate, guard } = gateWithGuard();
  guard.enter();
  guard.enter();
  assert.equal(shutGate(gate), false);
  assert.throws(() => guard.leave(), Ended);
  assert.equal(shutGate(gate), false);
  assert.throws(() => guard.leave(), Ended);
  assert.equal(shutGate(gate), true);
});

test("awaitOutside returns at its deadline", () => {
  const { gate, guard } = gateWithGuard();
  guard.enter();
  shutGate(gate);
  awaitOutside(gate, performance.now() + 1);
  assert.equal(shutGate(gate), false);
});
