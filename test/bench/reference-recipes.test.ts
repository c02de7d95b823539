import assert from "node:assert/strict";
import { test } from "node:test";
import { REFERENCE_RECIPES } from "../../bench/reference-recipes.ts";

test("no two references write the same file", () => {
  const files = REFERENCE_RECIPES.flatMap(({ name }) => [name, `${name}2`]);
  assert.equal(new Set(files).size, files.length);
});

test("a held-out clip repeats nothing of its reference", () => {
  for (const { name, clip, heldOut } of REFERENCE_RECIPES) {
    for (const a of clip) {
      for (const b of heldOut) {
        const isApart =
          a.path !== b.path || (a.toS ?? Infinity) <= (b.fromS ?? 0) || (b.toS ?? Infinity) <= (a.fromS ?? 0);
        assert.ok(isApart, `${name}: ${a.path}`);
      }
    }
  }
});

test("has both sexes, from wide and narrow recordings", () => {
  for (const isWide of [true, false]) {
    const such = REFERENCE_RECIPES.filter(({ kind }) => (kind === "clean") === isWide);
    assert.equal(new Set(such.map(({ sex }) => sex)).size, 2, isWide ? "wide" : "narrow");
  }
});

test("an English clip has a transcript", () => {
  for (const { name, language, transcript } of REFERENCE_RECIPES)
    assert.equal(transcript !== null, language === "en", name);
});
