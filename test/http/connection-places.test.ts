import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import { ServiceError } from "../../src/contract/errors.ts";
import { ConnectionPlaces } from "../../src/http/connection-places.ts";

function places() {
  const held: string[] = [];
  const made = new ConnectionPlaces({
    inAll: 3,
    perHolder: 2,
    full: () => new ServiceError(502, "full"),
    holderIsFull: () => new ServiceError(429, "one's own are full"),
  });
  const take = (socket: Socket, holder: string) =>
    made.take(socket, holder, () => {
      held.push(holder);
      return () => held.splice(held.indexOf(holder), 1);
    });
  return { held, take };
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
