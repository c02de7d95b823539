import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { ConnectionSlots } from "../../../src/api/http/connection-tracker.ts";
import { ServiceError } from "../../../src/contract/errors.ts";

function createSlots() {
  const held: string[] = [];
  const evicted: string[] = [];
  const slots = new ConnectionSlots({
    maxTotal: 3,
    maxPerHolder: 2,
    full: () => new ServiceError(502, "full"),
    holderIsFull: () => new ServiceError(429, "the holder's slots are full"),
  });
  const hold = (holder: string) => () => {
    held.push(holder);
    return () => held.splice(held.indexOf(holder), 1);
  };
  const take = (socket: Socket, holder: string) => slots.take(socket, holder, hold(holder));
  /** Takes a slot that can be evicted. */
  const takeEvictable = (holder: string, name: string) => {
    const leave = slots.take(new Socket(), holder, hold(holder), () => {
      evicted.push(name);
      leave();
    });
  };
  return { held, take, evicted, takeEvictable };
}

test("ConnectionSlots limits the slots per holder and in total", () => {
  const { take, held } = createSlots();
  take(new Socket(), "a");
  const leave = take(new Socket(), "a");
  assert.throws(() => take(new Socket(), "a"), /the holder's/);
  take(new Socket(), "b");
  assert.throws(() => take(new Socket(), "c"), { status: 502 });
  assert.deepEqual(held, ["a", "a", "b"]);
  leave();
  leave();
  assert.deepEqual(held, ["a", "b"]);
  take(new Socket(), "c");
  assert.throws(() => take(new Socket(), "a"), { status: 502 });
});

test("ConnectionSlots releases a slot once, when its connection closes or leaves", async () => {
  const { take, held } = createSlots();
  const socket = new Socket();
  const leave = take(socket, "a");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.destroy();
  await closed;
  assert.deepEqual(held, []);
  take(new Socket(), "a");
  leave();
  assert.deepEqual(held, ["a"]);
});

test("ConnectionSlots holds nothing for a connection that has already closed", async () => {
  const { take, held } = createSlots();
  const gone = new Socket();
  const closed = new Promise((resolve) => gone.once("close", resolve));
  gone.destroy();
  for (let count = 0; count < 5; count++) take(gone, "a");
  await closed;
  for (let count = 0; count < 5; count++) take(gone, "a");
  assert.deepEqual(held, []);
});

test("ConnectionSlots evicts the oldest slot of the largest holder for a smaller one", () => {
  const { evicted, held, takeEvictable } = createSlots();
  for (const name of ["a1", "b1", "b2", "c1"]) takeEvictable(name[0]!, name);
  assert.deepEqual(evicted, ["b1"]);
  assert.throws(() => takeEvictable("c", "c2"), { status: 502 }, "each holder has one");
  for (const name of ["d1", "e1"]) takeEvictable(name[0]!, name);
  assert.deepEqual(evicted, ["b1", "a1", "b2"]);
  assert.deepEqual(held, ["c", "d", "e"]);
});

test("ConnectionSlots never evicts a slot without an eviction callback", () => {
  const { take, held } = createSlots();
  for (const holder of "aab") take(new Socket(), holder);
  assert.throws(() => take(new Socket(), "c"), { status: 502 });
  assert.deepEqual(held, ["a", "a", "b"]);
});
