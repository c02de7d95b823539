import assert from "node:assert/strict";
import { test } from "node:test";
import type { Turn } from "../../src/core/conversation.ts";
import { packHistory, packVoice } from "../../src/workers/speech-thread.ts";

test("clips are copied once, and the caller's stay intact", () => {
  const samples = Float32Array.of(0.1, 0.2, 0.3).subarray(1);
  const { packed: history, transfer } = packHistory([
    turn(samples),
    { speaker: "1", text: "Yes.", audio: null },
  ]);
  const received = structuredClone(history, { transfer: [...transfer] });
  assert.deepEqual(received[0]?.audio?.samples, Float32Array.of(0.2, 0.3));
  assert.deepEqual(samples, Float32Array.of(0.2, 0.3));
  assert.deepEqual(received[1], { speaker: "1", text: "Yes.", audio: null });
});

test("clips that are given away are transferred without a copy", () => {
  const samples = Float32Array.of(0.1, 0.2);
  const { packed: history, transfer } = packHistory([turn(samples, true)]);
  assert.equal(transfer[0], samples.buffer);
  const received = structuredClone(history, { transfer: [...transfer] });
  assert.deepEqual(received[0]?.audio?.samples, Float32Array.of(0.1, 0.2));
  assert.equal(samples.length, 0);
});

test("a view into a larger array is always copied", () => {
  const samples = Float32Array.of(0.1, 0.2, 0.3).subarray(1);
  const { transfer } = packHistory([turn(samples, true)]);
  structuredClone(null, { transfer: [...transfer] });
  assert.deepEqual(samples, Float32Array.of(0.2, 0.3));
});

test("the recording of a voice is copied", () => {
  const samples = Float32Array.of(0.1, 0.2);
  const clip = { samples, sampleRateHz: 24_000, durationS: 1, digest: "a voice" };
  const { packed, transfer } = packVoice([
    { weight: 0.5, id: "0" },
    { weight: 0.5, sample: { clip, text: "Yes." } },
  ]);
  const received = structuredClone(packed, { transfer: [...transfer] });
  assert.deepEqual(received, [
    { weight: 0.5, id: "0" },
    { weight: 0.5, sample: { clip: { ...clip, isGivenAway: true }, text: "Yes." } },
  ]);
  assert.deepEqual(samples, Float32Array.of(0.1, 0.2));
});

function turn(samples: Float32Array, isGivenAway = false): Turn {
  return {
    speaker: "0",
    text: null,
    audio: { samples, sampleRateHz: 24_000, durationS: 1, digest: "a clip", isGivenAway },
  };
}
