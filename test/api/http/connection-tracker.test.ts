import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { ConnectionSlots } from "../../../src/api/http/connection-tracker.ts";
import { ServiceError } from "../../../src/contract/errors.ts";

function places() {
  const held: string[] = [];
  const gone: string[] = [];
  const made = new ConnectionSlots({
    maxTotal: 3,
    maxPerHolder: 2,
    full: () => new ServiceError(502, "full"),
    holderIsFull: () => new ServiceError(429, "one's own are full"),
  });
  const hold = (holder: string) => () => {
    held.push(holder);
    return () => held.splice(held.indexOf(holder), 1);
  };
  const take = (socket: Socket, holder: string) => made.take(socket, holder, hold(holder));
  /** Takes a place that gives way, and whose name is in `gone` once it has. */
  const yielding = (holder: string, name: string) => {
    const leave = made.take(new Socket(), holder, hold(holder), () => {
      gone.push(name);
      leave();
    });
  };
  return { held, take, gone, yielding };
}

test("connections have so many places of one holder, and in all", () => {
  const { take, held } = places();
  take(new Socket(), "a");
  const leave = take(new Socket(), "a");
  assert.throws(() => take(new Socket(), "a"), /one's own/);
  take(new Socket(), "b");
  assert.throws(() => take(new Socket(), "c"), { status: 502 });
  assert.deepEqual(held, ["a", "a", "b"]);
  leave();
  leave();
  assert.deepEqual(held, ["a", "b"]);
  take(new Socket(), "c");
  assert.throws(() => take(new Socket(), "a"), { status: 502 });
});

test("a place ends with its connection, once, whoever ends first", async () => {
  const { take, held } = places();
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

test("a connection that has gone has its place for no time, and what went with that is let go", async () => {
  const { take, held } = places();
  const gone = new Socket();
  const closed = new Promise((resolve) => gone.once("close", resolve));
  gone.destroy();
  for (let count = 0; count < 5; count++) take(gone, "a");
  await closed;
  for (let count = 0; count < 5; count++) take(gone, "a");
  assert.deepEqual(held, []);
});

test("the oldest place of the holder that has most gives way to a newcomer that has fewer", () => {
  const { gone, held, yielding } = places();
  yielding("a", "a1");
  yielding("b", "b1");
  yielding("b", "b2");
  yielding("c", "c1");
  assert.deepEqual(gone, ["b1"]);
  assert.throws(() => yielding("c", "c2"), { status: 502 }, "each has one");
  yielding("d", "d1");
  yielding("e", "e1");
  assert.deepEqual(gone, ["b1", "a1", "b2"]);
  assert.deepEqual(held, ["c", "d", "e"]);
});

test("a place that does not give way is kept", () => {
  const { take, held } = places();
  take(new Socket(), "a");
  take(new Socket(), "a");
  take(new Socket(), "b");
  assert.throws(() => take(new Socket(), "c"), { status: 502 });
  assert.deepEqual(held, ["a", "a", "b"]);
});
