import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findPause, hasNoSpeech } from "../../../src/recognition/whisper/level.ts";
import { babble, clipOf, silence, whiteNoise } from "../clips.ts";

describe("hasNoSpeech", () => {
  test("returns true for silence, steady noise or tone, a constant, and too short a clip", () => {
    const tone = clipOf(3, (timeS) => 0.3 * Math.sin(2 * Math.PI * 440 * timeS));
    const steady = [silence(1), whiteNoise(3), tone, clipOf(2, () => 0.9), babble(0.1), silence(0)];
    for (const { samples, durationS } of steady) assert.equal(hasNoSpeech(samples), true, `${durationS}`);
  });

  test("returns false for a modulated sound", () => {
    assert.equal(hasNoSpeech(babble(2).samples), false);
  });
});

test("findPause returns the quietest point between 20 and 29 s", () => {
  const pauses = [12, 21.4, 26, 29.6];
  const { samples } = clipOf(30, (timeS) => {
    const near = pauses.find((pause) => Math.abs(timeS - pause) < 0.25);
    const gain = near === undefined ? 0.3 : near === 21.4 ? 0.001 : 0.02;
    return gain * Math.sin(2 * Math.PI * 200 * timeS);
  });
  assert.ok(Math.abs(findPause(samples) / 16_000 - 21.4) < 0.1, `${findPause(samples) / 16_000}`);
});
