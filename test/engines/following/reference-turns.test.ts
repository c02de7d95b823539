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

const clip = (durationS: number) => ({
  samples: new Float32Array(0),
  sampleRateHz: 24_000,
  durationS,
  digest: `${durationS}`,
});

const turn = (speaker: string, text: string | null, hasAudio = true): Turn => ({
  speaker,
  text,
  audio: hasAudio ? clip(1) : null,
});

const indices = (turns: readonly ReferenceTurn[]) => turns.map(({ index }) => index);

describe("The turns that shape a voice", () => {
  test("are the speaker's own, the oldest first, and the newest of somebody else", () => {
    const history = [
      turn("1", "a"),
      turn("0", "b"),
      turn("1", null),
      turn("0", "c"),
      turn("2", "d"),
      turn("0", "e"),
    ];
    const { own, other } = referenceTurns({ history, speaker: "0" });
    assert.deepEqual(indices(own), [1, 3, 5]);
    assert.equal(other?.index, 4);
    assert.equal(other?.text, "d");
    assert.equal(own[0]?.clip, history[1]?.audio);
  });

  test("are only those that can be heard", () => {
    const history = [turn("0", "a", false), turn("0", null), turn("1", "b"), turn("1", "c", false)];
    const { own, other } = referenceTurns({ history, speaker: "0" });
    assert.deepEqual(indices(own), [1]);
    assert.equal(other?.index, 2);
    assert.deepEqual(referenceTurns({ history: [turn("1", "b", false)], speaker: "0" }), {
      own: [],
      other: null,
    });
  });
});

describe("Hearing", () => {
  const turnsOf = (durationS: number, count: number): ReferenceTurn[] =>
    Array.from({ length: count }, (_, index) => ({ index, clip: clip(durationS), text: null }));
  const heardOf = async (turns: readonly ReferenceTurn[], hear: (turn: ReferenceTurn) => VoiceProfile) => {
    const asked: (number | null)[] = [];
    const heard = await analyseUntilEnough(turns, async (each) => {
      asked.push(each.index);
      return hear(each);
    });
    assert.deepEqual(indices(heard), asked);
    return asked;
  };

  test("goes on in order until there are 12 s of speech", async () => {
    assert.deepEqual(await heardOf(turnsOf(6, 9), () => profileOf({ speechS: 5 })), [0, 1, 2]);
    assert.deepEqual(await heardOf(turnsOf(6, 2), () => profileOf({ speechS: 5 })), [0, 1]);
    assert.deepEqual(await heardOf(turnsOf(20, 9), () => profileOf({ speechS: 12 })), [0]);
  });

  test("counts no speech in a clip that is not trusted", async () => {
    const hear = ({ index }: ReferenceTurn) => profileOf({ speechS: 12, trust: (index ?? 0) < 2 ? 0 : 0.5 });
    assert.deepEqual(await heardOf(turnsOf(14, 9), hear), [0, 1, 2]);
  });

  test("ends after 90 s without speech, a clip counting for the 30 s at most that are listened to", async () => {
    const silent = () => profileOf({ speechS: 0, trust: 0 });
    assert.deepEqual(await heardOf(turnsOf(20, 9), silent), [0, 1, 2, 3, 4]);
    assert.deepEqual(await heardOf(turnsOf(600, 9), silent), [0, 1, 2]);
  });

  test("of nothing is nothing, and a clip that cannot be heard fails", async () => {
    assert.deepEqual(await heardOf([], () => profileOf()), []);
    const failure = new Error("out of ears");
    await assert.rejects(
      analyseUntilEnough(turnsOf(1, 1), () => Promise.reject(failure)),
      failure,
    );
  });
});
