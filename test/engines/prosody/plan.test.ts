import assert from "node:assert/strict";
import { test } from "node:test";
import { silenceRoomNoise } from "../../../src/engines/prosody/plan.ts";

test("silenceRoomNoise silences quiet frames before the first louder one and after the last", () => {
  const energy = Float32Array.of(-9, 2, 2.5, 6, 2, 1, 7, 2, 2.9, -9);
  silenceRoomNoise({ energy }, 3);
  const quiet = Math.fround(-9.4);
  assert.deepEqual([...energy], [quiet, quiet, quiet, 6, 2, 1, 7, quiet, quiet, quiet]);
});

test("silenceRoomNoise silences a sentence without louder frames, and takes an empty one", () => {
  const energy = Float32Array.of(1, 2, 1);
  silenceRoomNoise({ energy }, 3);
  assert.ok(energy.every((each) => each < -9));
  silenceRoomNoise({ energy: new Float32Array(0) }, 3);
});
