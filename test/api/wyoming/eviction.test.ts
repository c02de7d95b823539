import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConnectionActivity, chooseEviction } from "../../../src/api/wyoming/eviction.ts";

const SERVED: ConnectionActivity = { is: "served" };
const sending = (ageMs: number, bytesPerS: number): ConnectionActivity => ({
  is: "sending",
  ageMs,
  bytesPerS,
});
const pausing = (ageMs: number): ConnectionActivity => ({ is: "pausing", ageMs });
const empty = (ageMs: number): ConnectionActivity => ({ is: "empty", ageMs });

/** Evicts one connection after another, and returns their indices. */
function order(standings: readonly ConnectionActivity[]): number[] {
  let left = standings.map((standing, index) => [index, standing] as const);
  const gone: number[] = [];
  for (let giving = chooseEviction(left); giving !== null; giving = chooseEviction(left)) {
    const { connection } = giving;
    gone.push(connection);
    left = left.filter(([index]) => index !== connection);
  }
  return gone;
}

test("evicts the idle, then the unasked, then empty, slow and pausing requests", () => {
  const standings = [
    SERVED,
    pausing(11_000),
    sending(9_000, 1),
    empty(5),
    { is: "unasked" },
    { is: "idle" },
  ] as const;
  assert.deepEqual(order(standings), [5, 4, 3, 2, 1]);
});

test("evicts the oldest of a kind, or the slowest", () => {
  assert.deepEqual(order([{ is: "idle" }, { is: "idle" }]), [0, 1]);
  assert.deepEqual(order([empty(1), empty(30), empty(2)]), [1, 2, 0]);
  assert.deepEqual(order([sending(2_000, 2_000), sending(2_000, 5), sending(8_000, 2_500)]), [1, 0, 2]);
  assert.deepEqual(order([pausing(10_000), pausing(30_000), pausing(20_000)]), [1, 2, 0]);
});

test("never evicts a recording in real time, or one that has just begun", () => {
  assert.deepEqual(order([sending(1_000, 4_000), sending(60_000, 16_000), sending(999, 1), SERVED]), []);
});

test("keeps a text that pauses for less than 10 s", () => {
  assert.deepEqual(order([pausing(9_999), SERVED]), []);
});

test("gives a reason", () => {
  const why = (standing: ConnectionActivity) => chooseEviction([["a", standing]])?.reason;
  assert.equal(why({ is: "idle" }), "others needed its room");
  assert.equal(why(empty(1)), "it sent nothing while others waited");
  assert.equal(why(sending(2_000, 1)), "it sent too slowly while others waited");
  assert.equal(why(pausing(10_000)), "it sent no words while others waited");
});
