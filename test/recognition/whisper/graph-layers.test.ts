import assert from "node:assert/strict";
import { test } from "node:test";
import { quantised } from "../../../src/recognition/whisper/graph-layers.ts";

test("quantised equals onnxruntime's quantize_dynamic", () => {
  // numpy: s = 2·max|w| / 254 in float32, round half to even.
  const { data, scales } = quantised(Float32Array.of(1, -0.5, 0.25, 127, -63.5, 0.5, 0, 0, 0), 3, 3);
  assert.deepEqual([...scales], [Math.fround(1 / 127), 1, 1]);
  assert.deepEqual([...data], [127, 127, 0, -64, -64, 0, 32, 0, 0]);
});
