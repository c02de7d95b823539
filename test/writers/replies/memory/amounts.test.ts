import assert from "node:assert/strict";
import { test } from "node:test";
import { sumOverTurns } from "../../../../src/writers/replies/memory/amounts.ts";
import { byTurns } from "../../dialogues.ts";

/** Turns of one person and us, and what comes of them. */
const TALKS: readonly (readonly [turns: readonly string[], answer: string | null])[] = [
  [["what's 12 times 12", "That's 144.", "divide that by four"], "That's 36."],
  [["What is 7 times 8?", "That's 56.", "Halve it."], "That's 28."],
  [["What's 15% of 80?", "That's 12.", "and plus 5?"], "That's 17."],
  [["What's 200 minus 35?", "That's 165.", "And with 10% off?"], "That's 148.5."],
  [["What's 60 plus 20?", "That's 80.", "and divided by zero?"], null],
  [
    ["I have forty chairs for the hall.", "Good.", "We lent twelve to the school. How many are left?"],
    "That leaves 28 chairs.",
  ],
  [
    ["I've got 24 eggs", "Good.", "and I used 9 for the cake", "ok", "how many eggs do i have left"],
    "That leaves 15 eggs.",
  ],
  [
    ["I spent £12 on flowers", "Nice.", "and £30 on the cake", "Lovely.", "How much is that altogether?"],
    "That's £42 altogether.",
  ],
  [["The bill is £96.", "Right.", "There are six of us. How much each?"], "That's £16 each."],
  [
    ["The bill is £100.", "Right.", "There are three of us. How much is that each?"],
    "That's about £33.33 each.",
  ],
  // Of two things, of a correction, of a time, of nothing: in doubt none.
  [["I have 3 cats.", "Sweet.", "and 2 dogs", "Nice.", "How many are left?"], null],
  [["I have 40 chairs, I mean 50.", "Right.", "We lent 12 chairs. How many are left?"], null],
  [["The train is at 5.", "Right.", "How many are left?"], null],
  [["Hello.", "Hello.", "How many are left?"], null],
  [["I'm 70 years old.", "Congratulations.", "divide that by four"], null],
  [["We were ten at dinner and ate two cakes.", "Nice.", "How much each?"], null],
];

for (const [turns, answer] of TALKS)
  test(`${turns.join(" / ")} → ${answer}`, () => {
    assert.equal(sumOverTurns(byTurns(turns), "1"), answer);
  });
