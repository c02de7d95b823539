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

/** What everything keeps to that finds speech. */
export function voiceActivityConformance(name: string, make: () => Promise<VoiceActivityDetector>): void {
  describe(`${name} keeps to the seam of voice activity`, () => {
    let detector: VoiceActivityDetector;
    let speech: Float32Array;
    before(async () => {
      detector = await make();
      speech = await line();
    });
    after(() => detector?.close());

    it("has a probability for each complete window, and none for a piece of one", async () => {
      const activity = detector.open();
      assert.deepEqual(await activity.push(quiet(WINDOW_SAMPLES - 1)), []);
      assert.equal((await activity.push(quiet(1))).length, 1);
      assert.deepEqual(await activity.push(quiet(0)), []);
      const all = await activity.push(quiet(200 * WINDOW_SAMPLES + 7));
      assert.equal(all.length, 200);
      assert.ok(all.every((one) => one >= 0 && one <= 1));
    });

    it("tells speech from quiet", async () => {
      const all = await probabilities(detector.open(), speech);
      assert.ok(all.slice(15, 40).filter((one) => one > 0.5).length > 20, "where somebody speaks");
      assert.ok(
        all.slice(0, 8).every((one) => one < 0.5),
        "before",
      );
      assert.ok(
        all.slice(-8).every((one) => one < 0.5),
        "after",
      );
    });

    it("gives the same however a sound is cut", async () => {
      const whole = await probabilities(detector.open(), speech);
      const size = fc.integer({ min: 1, max: 3_000 });
      await fc.assert(
        fc.asyncProperty(size, async (piece) => {
          assert.deepEqual(await probabilities(detector.open(), speech, piece), whole);
        }),
        { numRuns: 5 },
      );
    });

    it("answers in order what is pushed at once", async () => {
      const activity = detector.open();
      const pieces = await Promise.all([
        activity.push(speech.slice(0, 9_000)),
        activity.push(speech.slice(9_000, 9_100)),
        activity.push(speech.slice(9_100)),
      ]);
      assert.deepEqual(pieces.flat(), await probabilities(detector.open(), speech));
    });

    it("keeps sounds apart that are open at once", async () => {
      const [one, other] = [detector.open(), detector.open()];
      const alone = await probabilities(detector.open(), speech, 4_000);
      const both = await Promise.all([
        probabilities(one, speech, 4_000),
        probabilities(other, quiet(speech.length), 4_000),
      ]);
      assert.deepEqual(both[0], alone);
      assert.ok(both[1].every((each) => each < 0.5));
    });

    it("begins anew after a reset, also while something is heard", async () => {
      const activity = detector.open();
      const dropped = activity.push(joinSamples([speech, quiet(5)]));
      activity.reset();
      const heard = await probabilities(activity, speech);
      await dropped;
      assert.deepEqual(heard, await probabilities(detector.open(), speech));
    });

    it("hears nothing after it was closed, and closing it twice is harmless", async () => {
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

/** What everything keeps to that judges whether somebody has finished. */
export function turnJudgeConformance(name: string, make: () => Promise<TurnJudge>): void {
  describe(`${name} keeps to the seam of a turn's judge`, () => {
    let judge: TurnJudge;
    let speech: Float32Array;
    before(async () => {
      judge = await make();
      speech = await line();
    });
    after(() => judge?.close());

    it("has a probability for turns of any length, the same each time", async () => {
      for (const turn of [quiet(0), quiet(1), speech, joinSamples(Array.from({ length: 8 }, () => speech))]) {
        const finished = await judge.judge(turn.slice(), never);
        assert.ok(finished >= 0 && finished <= 1, `${finished} for ${turn.length} samples`);
        assert.equal(await judge.judge(turn.slice(), never), finished);
      }
    });

    it("finds a line that is followed by its pause likelier finished than one that is cut", async () => {
      const whole = await judge.judge(speech.slice(), never);
      const cut = await judge.judge(speech.slice(0, 42_384), never);
      assert.ok(whole > cut, `${whole} and ${cut}`);
    });

    it("throws the reason of a signal that has aborted, or does while it waits", async () => {
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
