import assert from "node:assert/strict";
import { test } from "node:test";
import { averaged } from "../../src/audio/averaged.ts";

test("samples are averaged by so many, and what is left over is dropped", () => {
  assert.deepEqual([...averaged(Float32Array.of(0.5, 0.25, -1, 1, 0.75), 2)], [0.375, 0]);
  assert.deepEqual([...averaged(Float32Array.of(0.5, 0.25), 1)], [0.5, 0.25]);
  assert.deepEqual([...averaged(Float32Array.of(0.5, 0.25), 3)], []);
});
