import assert from "node:assert/strict";
import { test } from "node:test";
import { withClosingStop } from "../../../src/text/phonemes/sentence-phonemes.ts";

test("withClosingStop restores a lost mark, even before a quote or bracket", () => {
  for (const [sentence, mark] of [
    ["It is 5 p.m.", "."],
    ["Is it 5 p.m.?", "?"],
    ['He said "5 p.m."', "."],
    ["(At 5 p.m.!) ", "!"],
    ["“Until 5 p.m.…”", "…"],
  ] as const)
    assert.equal(withClosingStop("fˈIv pˌi ˈɛm", sentence), `fˈIv pˌi ˈɛm${mark}`, sentence);
});

test("withClosingStop keeps an existing mark, and adds none to an empty reading", () => {
  for (const phonemes of ["jˈɛs.", "jˈɛs!”", "jˈɛs?) ", "jˈɛs…", "jˈɛs,", "jˈɛs;", "jˈɛs:", "jˈɛs—"])
    assert.equal(withClosingStop(phonemes, "Yes."), phonemes);
  assert.equal(withClosingStop("", "Yes."), "");
});

test("withClosingStop adds none to a sentence without a mark", () => {
  for (const sentence of ["Yes", "Yes,", '"Yes"', "", '"', "a"])
    assert.equal(withClosingStop("jˈɛs", sentence), "jˈɛs", sentence);
});
