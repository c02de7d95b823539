import assert from "node:assert/strict";
import { test } from "node:test";
import { Playback } from "../../src/cli/bench/playback.ts";

test("frames that come at the pace of speech, or all at once, are in time", () => {
  const steady = new Playback(0);
  const burst = new Playback(0);
  for (let frame = 0; frame < 50; frame++) {
    assert.equal(steady.take(1_000 + 80 * frame), 0);
    assert.equal(burst.take(1_000), 0);
  }
  assert.equal(steady.endMs, 1_000 + 50 * 80);
  assert.equal(burst.aheadMs(1_000), 4_000);
});

test("a frame may come as late as the buffer is long, and no later", () => {
  const playback = new Playback(200);
  playback.take(0);
  assert.equal(playback.take(280), 0);
  assert.equal(playback.take(361), 1);
});

test("a listener who ran dry goes on from there, so that one gap is one underrun", () => {
  const playback = new Playback(0);
  playback.take(0);
  assert.equal(playback.take(580), 500);
  for (let frame = 1; frame < 20; frame++) assert.equal(playback.take(580 + 80 * frame), 0);
  assert.equal(playback.frames, 21);
});
