import assert from "node:assert/strict";
import { test } from "node:test";
import type { Turn } from "../../src/model/conversation.ts";
import { packHistory } from "../../src/workers/pack-history.ts";

test("clips are copied once, and the caller's stay whole when the copies are handed over", () => {
  const samples = Float32Array.of(0.1, 0.2, 0.3).subarray(1);
  const { history, transfer } = packHistory([turn(samples), { speaker: "1", text: "Yes.", audio: null }]);
  const received = structuredClone(history, { transfer: [...transfer] });
  assert.deepEqual(received[0]?.audio?.samples, Float32Array.of(0.2, 0.3));
  assert.deepEqual(samples, Float32Array.of(0.2, 0.3));
  assert.deepEqual(received[1], { speaker: "1", text: "Yes.", audio: null });
});

test("samples in shared memory are not copied at all", () => {
  const samples = new Float32Array(new SharedArrayBuffer(8));
  const { history, transfer } = packHistory([turn(samples)]);
  assert.equal(history[0]?.audio?.samples.buffer, samples.buffer);
  assert.deepEqual(transfer, []);
});

function turn(samples: Float32Array): Turn {
  return {
    speaker: "0",
    text: null,
    audio: { samples, sampleRateHz: 24_000, durationS: 1, digest: "a clip" },
  };
}
