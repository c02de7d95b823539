import assert from "node:assert/strict";
import { test } from "node:test";
import { relativeTempo } from "../../../src/engines/following/tempo.ts";
import fc from "../../properties.ts";
import { profileOf } from "./analysis/profiles.ts";

const saidFor = (speechS: number, baselineS: number | null, syllablesPerS = 4) => ({
  profile: profileOf({ speechS, syllablesPerS }),
  baselineS,
});

test("words in our own time are at our tempo; in less they are faster, in more slower, by as much", () => {
  assert.equal(relativeTempo([saidFor(4, 4)]), 1);
  assert.ok(Math.abs(relativeTempo([saidFor(4, 5)]) - 1.25) < 1e-9);
  assert.ok(Math.abs(relativeTempo([saidFor(5, 4)]) - 0.8) < 1e-9);
});

test("words that are known decide alone, however many syllables were heard", () => {
  assert.equal(relativeTempo([saidFor(4, 4, 9)]), 1);
});

test("words that nobody would speak so fast or so slowly were other words: syllables decide", () => {
  const bySyllables = relativeTempo([saidFor(4, null, 5)]);
  assert.ok(bySyllables > 1.1);
  for (const baselineS of [0, 0.5, 2.4, 6.5, 60])
    assert.equal(relativeTempo([saidFor(4, baselineS, 5)]), bySyllables);
});

test("without words our own syllable rate is our tempo, and more syllables are faster", () => {
  assert.equal(relativeTempo([saidFor(4, null)]), 1);
  assert.ok(relativeTempo([saidFor(4, null, 5)]) > 1 && relativeTempo([saidFor(4, null, 3)]) < 1);
});

test("clips count by their speech, and opposite ones cancel", () => {
  assert.ok(Math.abs(relativeTempo([saidFor(4, 5), saidFor(4, 3.2)]) - 1) < 1e-9);
  assert.ok(relativeTempo([saidFor(8, 10), saidFor(1, 0.8)]) > 1.15);
});

test("no clips, no speech and no syllables leave the tempo as it is", () => {
  assert.equal(relativeTempo([]), 1);
  assert.equal(relativeTempo([saidFor(0, null)]), 1);
  assert.equal(relativeTempo([saidFor(4, null, 0)]), 1);
});

test("the tempo is a finite factor, whatever was heard", () => {
  const clip = fc.tuple(
    fc.nat(2_400).map((frames) => frames * 0.0125),
    fc.option(fc.double({ min: 0, max: 90, noNaN: true })),
    fc.oneof(fc.constant(0), fc.double({ min: 0.01, max: 80, noNaN: true })),
  );
  fc.assert(
    fc.property(fc.array(clip, { maxLength: 4 }), (clips) => {
      const tempo = relativeTempo(clips.map((parts) => saidFor(...parts)));
      assert.ok(Number.isFinite(tempo) && tempo > 0);
    }),
  );
});
