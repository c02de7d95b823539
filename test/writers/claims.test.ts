import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { claimsToBeAPerson } from "../../src/writers/claims.ts";
import { TOP } from "../architecture/top.ts";

for (const claim of [
  "I got a full night's rest.",
  "My sister loves it, too.",
  "When I was little we went there.",
  "I had pasta for dinner.",
  "I'm a student.",
  "I live in Paris.",
  "I'm just at home.",
  "I’ve been to Rome twice.",
  "I have two cats.",
  "I could tell you about my day.",
  "I'll bring you a box of chocolates.",
  "I'm a real person.",
  "No, I'm not a computer.",
  "Of course I'm real.",
  "I'm twenty-five years old.",
  "I was born in Ohio.",
  "I have blue eyes.",
  "I can see you.",
  "I feel so tired.",
])
  test(`a claim: ${claim}`, () => assert.ok(claimsToBeAPerson(claim)));

for (const fair of [
  "I'm glad you told me.",
  "I'd go for the lake.",
  "I don't eat, I'm only a voice.",
  "I can't see the weather from here.",
  "I like the sound of that.",
  "I think your sister meant well.",
  "That must have been a shock.",
  "I'm not a person, I'm a computer voice.",
  "I can see your point.",
  "I can see you're torn.",
  "I have no eyes here.",
  "I can see why that hurts.",
  "I'm really glad.",
  "I don't have a body.",
  "I feel for you.",
])
  test(`no claim: ${fair}`, () => assert.ok(!claimsToBeAPerson(fair)));

test("no line of ours claims to be a person's, and every one is short", () => {
  const folder = join(TOP, "training", "replies", "acts");
  for (const file of readdirSync(folder)) {
    for (const line of readFileSync(join(folder, file), "utf8").split("\n")) {
      if (!line.startsWith("< ")) continue;
      assert.ok(!claimsToBeAPerson(line.slice(2)), `${file}: ${line}`);
      assert.ok(line.split(" ").length <= 30, `${file}: ${line}`);
    }
  }
});
