import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { newEventId } from "../../src/accounts/store.ts";

describe("an event id", () => {
  it("is a UUIDv7, which begins with the time", () => {
    const id = newEventId(0x0199_8877_6655);
    assert.match(id, /^01998877-6655-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.ok(newEventId(0xffff_ffff_ffff).startsWith("ffffffff-ffff-7"));
  });

  it("sorts by time, and is unique", () => {
    const times = Array.from({ length: 1_000 }, (_, i) => 1_700_000_000_000 + i);
    const ids = times.map((timeMs) => newEventId(timeMs));
    assert.deepEqual([...ids].sort(), ids);
    assert.equal(new Set(Array.from({ length: 10_000 }, () => newEventId(0))).size, 10_000);
  });
});
