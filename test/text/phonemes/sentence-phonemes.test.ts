import assert from "node:assert/strict";
import { test } from "node:test";
import { withClosingStop } from "../../../src/text/phonemes/sentence-phonemes.ts";

test("a sentence whose reading lost its mark gets it back, also from behind a quote or a bracket", () => {
  for (const [sentence, mark] of [
    ["It is 5 p.m.", "."],
    ["Is it 5 p.m.?", "?"],
    ['He said "5 p.m."', "."],
    ["(At 5 p.m.!) ", "!"],
    ["“Until 5 p.m.…”", "…"],
  ] as const)
    assert.equal(withClosingStop("fˈIv pˌi ˈɛm", sentence), `fˈIv pˌi ˈɛm${mark}`, sentence);
});

test("a reading that has a mark keeps it, also before a quote or a bracket, and one without words gets none", () => {
  for (const phonemes of ["jˈɛs.", "jˈɛs!”", "jˈɛs?) ", "jˈɛs…", "jˈɛs,", "jˈɛs;", "jˈɛs:", "jˈɛs—"])
    assert.equal(withClosingStop(phonemes, "Yes."), phonemes);
  assert.equal(withClosingStop("", "Yes."), "");
});

test("a sentence that ends without a mark gets none", () => {
  for (const sentence of ["Yes", "Yes,", '"Yes"', "", '"', "a"])
    assert.equal(withClosingStop("jˈɛs", sentence), "jˈɛs", sentence);
});
