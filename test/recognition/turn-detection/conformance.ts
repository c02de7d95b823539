import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { joinSamples } from "../../../src/audio/pcm.ts";
import {
  TurnDetectionError,
  type TurnJudge,
  type VoiceActivity,
  type VoiceActivityDetector,
  WINDOW_SAMPLES,
} from "../../../src/core/turn-detection.ts";
import fc from "../../properties.ts";
import { line } from "./line.ts";

const never = new AbortController().signal;
const quiet = (count: number) => new Float32Array(count);

async function probabilities(activity: VoiceActivity, samples: Float32Array, piece = samples.length) {
  const all: number[] = [];
  for (let at = 0; at < samples.length; at += piece)
    all.push(...(await activity.push(samples.slice(at, at + piece))));
  return all;
}

/** Checks what every voice activity detector guarantees. */
export function voiceActivityConformance(name: string, make: () => Promise<VoiceActivityDetector>): void {
  describe(name, () => {
    let detector: VoiceActivityDetector;
    let speech: Float32Array;
    before(async () => {
      detector = await make();
      speech = await line();
    });
    after(() => detector?.close());

    it("returns a probability for each complete window", async () => {
      const activity = detector.open();
      assert.deepEqual(await activity.push(quiet(WINDOW_SAMPLES - 1)), []);
      assert.equal((await activity.push(quiet(1))).length, 1);
      assert.deepEqual(await activity.push(quiet(0)), []);
      const all = await activity.push(quiet(200 * WINDOW_SAMPLES + 7));
      assert.equal(all.length, 200);
      assert.ok(all.every((one) => one >= 0 && one <= 1));
    });

    it("tells speech from silence", async () => {
      const all = await probabilities(detector.open(), speech);
      const quietAt = [...all.slice(0, 8), ...all.slice(-8)];
      assert.ok(all.slice(15, 40).filter((one) => one > 0.5).length > 20, "speech");
      assert.ok(
        quietAt.every((one) => one < 0.5),
        "silence",
      );
    });

    it("returns the same for any chunk size", async () => {
      const whole = await probabilities(detector.open(), speech);
      const size = fc.integer({ min: 1, max: 3_000 });
      await fc.assert(
        fc.asyncProperty(size, async (piece) => {
          assert.deepEqual(await probabilities(detector.open(), speech, piece), whole);
        }),
        { numRuns: 5 },
      );
    });

    it("answers concurrent chunks in order", async () => {
      const activity = detector.open();
      const pieces = await Promise.all([
        activity.push(speech.slice(0, 9_000)),
        activity.push(speech.slice(9_000, 9_100)),
        activity.push(speech.slice(9_100)),
      ]);
      assert.deepEqual(pieces.flat(), await probabilities(detector.open(), speech));
    });

    it("separates concurrent streams", async () => {
      const [one, other] = [detector.open(), detector.open()];
      const alone = await probabilities(detector.open(), speech, 4_000);
      const both = await Promise.all([
        probabilities(one, speech, 4_000),
        probabilities(other, quiet(speech.length), 4_000),
      ]);
      assert.deepEqual(both[0], alone);
      assert.ok(both[1].every((each) => each < 0.5));
    });

    it("starts over after a reset", async () => {
      const activity = detector.open();
      const dropped = activity.push(joinSamples([speech, quiet(5)]));
      activity.reset();
      const heard = await probabilities(activity, speech);
      await dropped;
      assert.deepEqual(heard, await probabilities(detector.open(), speech));
    });

    it("may be closed twice, and then detects nothing", async () => {
      const closed = await make();
      const activity = closed.open();
      await closed.close();
      await closed.close();
      await activity.push(quiet(WINDOW_SAMPLES)).then(
        (all) => assert.ok(all.every((one) => one < 0.5)),
        (error) => assert.ok(error instanceof TurnDetectionError),
      );
    });
  });
}

/** Checks what every end-of-turn detector guarantees. */
export function turnJudgeConformance(name: string, make: () => Promise<TurnJudge>): void {
  describe(name, () => {
    let judge: TurnJudge;
    let speech: Float32Array;
    before(async () => {
      judge = await make();
      speech = await line();
    });
    after(() => judge?.close());

    it("returns the same probability each time, for turns of any length", async () => {
      for (const turn of [quiet(0), quiet(1), speech, joinSamples(Array.from({ length: 8 }, () => speech))]) {
        const finished = await judge.judge(turn.slice(), never);
        assert.ok(finished >= 0 && finished <= 1, `${finished} for ${turn.length} samples`);
        assert.equal(await judge.judge(turn.slice(), never), finished);
      }
    });

    it("finds a line with its pause likelier finished than a cut one", async () => {
      const whole = await judge.judge(speech.slice(), never);
      const cut = await judge.judge(speech.slice(0, 42_384), never);
      assert.ok(whole > cut, `${whole} and ${cut}`);
    });

    it("throws an abort before it starts or while it waits", async () => {
      const reason = new Error("no more");
      await assert.rejects(judge.judge(speech.slice(), AbortSignal.abort(reason)), reason);
      const leaving = new AbortController();
      const judged = Promise.allSettled(
        [leaving.signal, never].map((signal) => judge.judge(speech.slice(), signal)),
      );
      leaving.abort(reason);
      const [left, stayed] = await judged;
      assert.ok(left!.status === "fulfilled" || left!.reason === reason);
      assert.equal(stayed!.status, "fulfilled");
    });
  });
}
