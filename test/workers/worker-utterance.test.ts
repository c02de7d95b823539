import assert from "node:assert/strict";
import { test } from "node:test";
import { FRAME_SAMPLES } from "../../src/audio/format.ts";
import type { SpeechModel } from "../../src/model/speech-model.ts";
import { packHistory } from "../../src/workers/pack-history.ts";
import { WorkerUtterance } from "../../src/workers/worker-utterance.ts";
import { scriptOf } from "../model/scripts.ts";

test("the samples of earlier turns are there while they are heard, and let go of with the first frame", async () => {
  const samples = new Float32Array(240);
  const audio = { samples, sampleRateHz: 24_000, durationS: 0.01, digest: "a clip" };
  const { packed: history } = packHistory([
    { speaker: "0", text: "Hello.", audio },
    { speaker: "1", text: "Yes.", audio: null },
  ]);
  const lengths: (number | undefined)[] = [];
  const note = (): void => void lengths.push(history[0]?.audio?.samples.length);
  const model: SpeechModel = {
    hear: async () => note(),
    async *speak() {
      note();
      yield { samples: new Float32Array(FRAME_SAMPLES) };
      note();
      return { stop: "finished", spoken: "" };
    },
    close: async () => {},
  };
  const { speaker, delivery, preset, seed } = scriptOf({ text: "Yes." });
  const script = { history, speaker, delivery, preset, seed, lexicon: [], hasMouth: false, keyId: "" };
  const utterance = new WorkerUtterance(
    model,
    { kind: "open", id: 1, script, credit: 2, encoding: null },
    {
      onPull() {},
      onFrame() {},
      onEnd() {},
      onFail: (thrown) => assert.fail(thrown as Error),
      onRunnable() {},
      now: () => 0,
    },
  );
  await utterance.hear();
  await utterance.step();
  await utterance.step();
  assert.deepEqual(lengths, [240, 240, 0]);
  // A copy went, so that the caller's own are whole.
  assert.equal(samples.length, 240);
});
