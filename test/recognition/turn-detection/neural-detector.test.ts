import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Worker } from "node:worker_threads";
import { joinSamples } from "../../../src/audio/pcm.ts";
import { TurnDetectionError } from "../../../src/core/turn-detection.ts";
import {
  type NeuralDetector,
  openNeuralDetector,
} from "../../../src/recognition/turn-detection/neural-detector.ts";
import { turnJudgeConformance, voiceActivityConformance } from "./conformance.ts";
import { line, lineGolden } from "./line.ts";

const never = new AbortController().signal;

voiceActivityConformance("Silero VAD", async () => openNeuralDetector().activity);
turnJudgeConformance("smart-turn", async () => openNeuralDetector().judge);

describe("openNeuralDetector", () => {
  let detector: NeuralDetector;
  before(() => {
    detector = openNeuralDetector();
  });
  after(() => detector.close());

  it("detects speech as Silero's program does", async () => {
    const found = await detector.activity.open().push(await line());
    assert.equal(found.length, lineGolden.activity.length);
    for (const [at, expected] of lineGolden.activity.entries())
      assert.ok(Math.abs(found[at]! - expected) < 1e-4, `window ${at}: ${found[at]} instead of ${expected}`);
  });

  it("judges turns as pipecat does", async () => {
    const samples = await line();
    for (const { samples: count, finished } of lineGolden.turns) {
      const turn = joinSamples([samples.subarray(0, count), new Float32Array(1_600)]);
      const judged = await detector.judge.judge(turn, never);
      // The publisher's own platforms differ as much: the graph quantises its activations.
      assert.ok(Math.abs(judged - finished) < 0.08, `${count}: ${judged} instead of ${finished}`);
    }
  });

  it("replaces a thread that dies, and continues its streams", async () => {
    const failures: string[] = [];
    let starts = 0;
    const dying = openNeuralDetector({
      onFailure: (message) => failures.push(message),
      startThread(site) {
        starts += 1;
        const entry =
          starts === 1 ? "./dying-thread.js" : "../../../src/recognition/turn-detection/detection-thread.js";
        return new Worker(new URL(entry, import.meta.url), { workerData: site });
      },
    });
    try {
      const samples = await line();
      const found = await dying.activity.open().push(samples);
      assert.deepEqual(found, await detector.activity.open().push(samples));
      assert.match(failures.join(), /the thread that detects speech died/);
    } finally {
      await dying.close();
    }
  });

  it("names a missing file only in the error's cause", async () => {
    const nowhere = openNeuralDetector({ folder: "/no/such/folder" });
    try {
      await assert.rejects(nowhere.judge.judge(new Float32Array(5), never), (error) => {
        assert.ok(error instanceof TurnDetectionError);
        assert.doesNotMatch(error.message, /folder/);
        assert.match(String(error.cause), /no\/such\/folder.* is missing/);
        return true;
      });
    } finally {
      await nowhere.close();
    }
  });
});
