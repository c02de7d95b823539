import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FRAME_S } from "../../../src/audio/format.ts";
import { PlaybackClock } from "../../../src/serving/reply/utterance-stats.ts";
import fc from "../../properties.ts";

/** Returns the indexes of late frames. */
function lateFrames(frames: readonly (readonly [askedS: number, cameS: number])[]): number[] {
  const listener = new PlaybackClock();
  return frames.flatMap(([askedS, cameS], index) => (listener.isLate(askedS, cameS) ? [index] : []));
}

describe("a PlaybackClock", () => {
  it("reports no underrun if every frame arrives before the previous one ends", () => {
    const delays = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 50 });
    fc.assert(
      fc.property(fc.double({ min: 0, max: 5, noNaN: true }), delays, (startS, shares) => {
        const frames = shares.map((share, index) => {
          const cameS = startS + share * index * FRAME_S;
          return [Math.min(cameS, startS + (index - 1) * FRAME_S), cameS] as const;
        });
        assert.deepEqual(lateFrames([[0, startS], ...frames.slice(1)]), []);
      }),
    );
  });

  it("ignores the latency of the first frame", () => {
    assert.deepEqual(lateFrames([[0, 100]]), []);
  });

  it("reports a frame that was requested in time and came late, once", () => {
    const frames: [number, number][] = [
      [0, 1],
      [1, 1.01],
      [1.01, 1 + 2 * FRAME_S + 0.001],
      [1 + 2 * FRAME_S + 0.001, 1 + 2 * FRAME_S + 0.002],
    ];
    assert.deepEqual(lateFrames(frames), [2]);
  });

  it("restarts at a late frame, so that one gap counts once", () => {
    const gapS = 10;
    const frames: [number, number][] = [
      [0, 0],
      [0, gapS],
    ];
    for (let i = 1; i < 20; i++) frames.push([gapS + (i - 1) * FRAME_S, gapS + i * FRAME_S - 0.001]);
    assert.deepEqual(lateFrames(frames), [1]);
  });

  it("ignores frames that were requested late", () => {
    assert.deepEqual(
      lateFrames([
        [0, 0],
        [5, 5.01],
        [5.01, 5.02],
        [9, 9.01],
      ]),
      [],
    );
  });

  it("reports every gap of an engine that is always too slow", () => {
    const slow = Array.from({ length: 10 }, (_, i): [number, number] => [i * 0.1, (i + 1) * 0.1]);
    assert.deepEqual(lateFrames(slow), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});
