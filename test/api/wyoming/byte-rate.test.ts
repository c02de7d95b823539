import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteRate } from "../../../src/api/wyoming/transcribe.ts";
import fc from "../../properties.ts";

test("what came at once counts for three seconds, however much it was", () => {
  for (const bytes of [128 * 1024, 1024 * 1024]) {
    const pace = new ByteRate();
    pace.note(10, bytes);
    assert.ok(pace.bytesPerS(3_000, bytes) > 40_000);
    for (const atMs of [1_000, 2_000, 3_000]) pace.note(atMs, bytes);
    for (const atMs of [3_010, 4_000, 300_000]) assert.equal(pace.bytesPerS(atMs, bytes), 0);
  }
});

test("what is noted often is as exact as what is noted seldom", () => {
  const pace = new ByteRate();
  for (let atMs = 1; atMs <= 10_000; atMs++) pace.note(atMs, 8 * atMs);
  assert.equal(pace.bytesPerS(10_000, 80_000), 8_000);
  assert.ok(Math.abs(pace.bytesPerS(13_000, 80_000)) < 100);
});

test("what was thrown away again is no pace below zero", () => {
  const pace = new ByteRate();
  pace.note(500, 70_000);
  assert.equal(pace.bytesPerS(4_000, 100), 0);
});

test("a telephone's sound in pieces of a second or less has half of its pace at least, at any time", () =>
  fc.assert(
    fc.property(
      fc.integer({ min: 20, max: 1_000 }),
      fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 5, maxLength: 200 }),
      (pieceMs, steps) => {
        const pace = new ByteRate();
        let atMs = 0;
        for (const step of steps) {
          atMs += step;
          const bytes = Math.floor(atMs / pieceMs) * pieceMs * 16;
          if (atMs >= 1_000) {
            const found = pace.bytesPerS(atMs, bytes);
            assert.ok(found >= 8_000, `${found} bytes a second at ${atMs} ms`);
          }
          pace.note(atMs, bytes);
        }
      },
    ),
  ));
