import assert from "node:assert/strict";
import { test } from "node:test";
import { silenceRoomNoise } from "../../../src/engines/prosody/plan.ts";

test("what is no louder than the room is silent before the first louder frame and after the last, and nowhere else", () => {
  const energy = Float32Array.of(-9, 2, 2.5, 6, 2, 1, 7, 2, 2.9, -9);
  silenceRoomNoise({ energy }, 3);
  const quiet = Math.fround(-9.4);
  assert.deepEqual([...energy], [quiet, quiet, quiet, 6, 2, 1, 7, quiet, quiet, quiet]);
});

test("a sentence that is never louder than the room is silent, and an empty one is left alone", () => {
  const energy = Float32Array.of(1, 2, 1);
  silenceRoomNoise({ energy }, 3);
  assert.ok(energy.every((each) => each < -9));
  silenceRoomNoise({ energy: new Float32Array(0) }, 3);
});
