import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Turn } from "../../../src/core/conversation.ts";
import type { VoiceProfile } from "../../../src/engines/following/analysis/voice-profile.ts";
import {
  analyseUntilEnough,
  type ReferenceTurn,
  referenceTurns,
} from "../../../src/engines/following/reference-turns.ts";
import { profileOf } from "./analysis/profiles.ts";

const clip = (durationS: number) => {
  return { samples: new Float32Array(0), sampleRateHz: 24_000, durationS, digest: `${durationS}` };
};

const turn = (speaker: string, text: string | null, hasAudio = true): Turn => ({
  speaker,
  text,
  audio: hasAudio ? clip(1) : null,
});

const indices = (turns: readonly ReferenceTurn[]) => turns.map(({ index }) => index);

describe("referenceTurns", () => {
  test("returns the speaker's own turns, oldest first, and the newest of another", () => {
    const history = [..."101020"].map((speaker, at) => turn(speaker, at === 2 ? null : "abcdef"[at]!));
    const { own, other } = referenceTurns({ history, speaker: "0" });
    assert.deepEqual(indices(own), [1, 3, 5]);
    assert.equal(other?.index, 4);
    assert.equal(other?.text, "e");
    assert.equal(own[0]?.clip, history[1]?.audio);
  });

  test("skips turns without audio", () => {
    const history = [turn("0", "a", false), turn("0", null), turn("1", "b"), turn("1", "c", false)];
    const { own, other } = referenceTurns({ history, speaker: "0" });
    assert.deepEqual(indices(own), [1]);
    assert.equal(other?.index, 2);
    const silent = referenceTurns({ history: [turn("1", "b", false)], speaker: "0" });
    assert.deepEqual(silent, { own: [], other: null });
  });
});

describe("analyseUntilEnough", () => {
  const turnsOf = (durationS: number, count: number): ReferenceTurn[] =>
    Array.from({ length: count }, (_, index) => ({ index, clip: clip(durationS), text: null }));
  const analysedOf = async (
    turns: readonly ReferenceTurn[],
    analyse: (turn: ReferenceTurn) => VoiceProfile,
  ) => {
    const asked: (number | null)[] = [];
    const analysed = await analyseUntilEnough(turns, async (each) => {
      asked.push(each.index);
      return analyse(each);
    });
    assert.deepEqual(indices(analysed), asked);
    return asked;
  };

  test("stops after 12 s of speech", async () => {
    assert.deepEqual(await analysedOf(turnsOf(6, 9), () => profileOf({ speechS: 5 })), [0, 1, 2]);
    assert.deepEqual(await analysedOf(turnsOf(6, 2), () => profileOf({ speechS: 5 })), [0, 1]);
    assert.deepEqual(await analysedOf(turnsOf(20, 9), () => profileOf({ speechS: 12 })), [0]);
  });

  test("counts no untrusted speech", async () => {
    const analyse = ({ index }: ReferenceTurn) =>
      profileOf({ speechS: 12, trust: (index ?? 0) < 2 ? 0 : 0.5 });
    assert.deepEqual(await analysedOf(turnsOf(14, 9), analyse), [0, 1, 2]);
  });

  test("stops after 90 s without speech, at most 30 s of each clip", async () => {
    const silent = () => profileOf({ speechS: 0, trust: 0 });
    assert.deepEqual(await analysedOf(turnsOf(20, 9), silent), [0, 1, 2, 3, 4]);
    assert.deepEqual(await analysedOf(turnsOf(600, 9), silent), [0, 1, 2]);
  });

  test("returns nothing for no turns, and fails with its analysis", async () => {
    assert.deepEqual(await analysedOf([], () => profileOf()), []);
    const failure = new Error("failed");
    const analysing = analyseUntilEnough(turnsOf(1, 1), () => Promise.reject(failure));
    await assert.rejects(analysing, failure);
  });
});
