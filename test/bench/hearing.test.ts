import assert from "node:assert/strict";
import { test } from "node:test";
import { CLIPS_OF_LANGUAGES, CLIPS_WITH_WORDS } from "../../bench/hearing/human-clips.ts";
import { MADE_MUSIC } from "../../bench/hearing/made-music.ts";
import { NOISES } from "../../bench/hearing/noises.ts";
import { RECORDED_SOUNDS } from "../../bench/hearing/recorded-sounds.ts";
import { sameWords } from "../../bench/hearing/same-words.ts";
import { clipOf, drawn, rmsOf } from "../../bench/hearing/sounds.ts";
import { overTelephone } from "../../bench/hearing/telephone.ts";

test("no two clips write the same file", () => {
  for (const clips of [CLIPS_OF_LANGUAGES, CLIPS_WITH_WORDS, RECORDED_SOUNDS])
    assert.equal(new Set(clips.map(({ name }) => name)).size, clips.length);
});

test("there are forty clips of seven languages, six of each at least", () => {
  const count = new Map<string, number>();
  for (const { language } of CLIPS_OF_LANGUAGES) count.set(language, (count.get(language) ?? 0) + 1);
  assert.equal(count.size, 7);
  assert.ok(Math.min(...count.values()) >= 6);
  assert.ok(CLIPS_OF_LANGUAGES.length >= 40);
});

test("synthetic sounds are reproducible, finite and within full scale", () => {
  for (const [name, make] of Object.entries({ ...NOISES, ...MADE_MUSIC })) {
    const samples = make();
    assert.deepEqual(make(), samples, name);
    assert.ok(
      samples.every((value) => Math.abs(value) <= 1),
      name,
    );
  }
});

test("the telephone filter keeps 1 kHz, and has the requested noise", () => {
  const tone = (hz: number) =>
    clipOf(
      drawn(1, (t) => 0.3 * Math.sin(2 * Math.PI * hz * t)),
      `${hz}`,
    );
  const through = (hz: number) => rmsOf(overTelephone(tone(hz), 60).samples) / rmsOf(tone(hz).samples);
  assert.ok(Math.abs(through(1_000) - 1) < 0.05);
  assert.ok(through(50) < 0.1);
  assert.ok(through(3_900) < 0.1);
  const noisy = rmsOf(overTelephone(tone(1_000), 0).samples) / rmsOf(tone(1_000).samples);
  assert.ok(Math.abs(noisy - Math.SQRT2) < 0.1, `${noisy}`);
});

test("matching words are found in order, whatever is in between", () => {
  const pairs = sameWords(["the", "old", "cat", "sat"], ["the", "cat", "that", "sat", "old"]);
  assert.deepEqual(pairs, [
    [0, 0],
    [2, 1],
    [3, 3],
  ]);
  assert.deepEqual(sameWords([], ["a"]), []);
});
