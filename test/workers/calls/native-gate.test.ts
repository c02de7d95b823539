import assert from "node:assert/strict";
import { test } from "node:test";
import { awaitOutside, createGate, createGuard, shutGate } from "../../../src/workers/calls/native-gate.ts";

class Ended extends Error {}

/** A gate, and a thread's side of it whose thread ends by throwing. */
function gateWithGuard() {
  const gate = createGate();
  const guard = createGuard(gate, () => {
    throw new Ended();
  });
  return { gate, guard };
}

test("a thread that is outside may be ended, and does not get in any more", () => {
  const { gate, guard } = gateWithGuard();
  guard.enter();
  guard.leave();
  assert.equal(shutGate(gate), true);
  assert.throws(() => guard.enter(), Ended);
  awaitOutside(gate, Number.POSITIVE_INFINITY);
});

test("a thread that is inside may not be ended: it ends when it has left for the last time", () => {
  const { gate, guard } = gateWithGuard();
  guard.enter();
  guard.enter();
  assert.equal(shutGate(gate), false);
  assert.throws(() => guard.leave(), Ended);
  assert.equal(shutGate(gate), false);
  assert.throws(() => guard.leave(), Ended);
  assert.equal(shutGate(gate), true);
});

test("who waits for a thread that stays inside waits no longer than told", () => {
  const { gate, guard } = gateWithGuard();
  guard.enter();
  shutGate(gate);
  awaitOutside(gate, performance.now() + 1);
  assert.equal(shutGate(gate), false);
});
