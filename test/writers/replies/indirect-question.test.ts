import assert from "node:assert/strict";
import { test } from "node:test";
import { indirectQuestion } from "../../../src/writers/replies/indirect-question.ts";

const ASKED: readonly (readonly [asked: string, clause: string | null])[] = [
  ["do I need an oven?", "whether you need an oven"],
  ["Leeks and feta. And do I need an oven?", "whether you need an oven"],
  ["How long does it take?", "how long it takes"],
  ["how long does it take", "how long it takes"],
  ["Why did he leave?", "why he left"],
  ["Who wrote that?", "who wrote that"],
  ["When should I plant them?", "when you should plant them"],
  ["What's the best one?", "what the best one is"],
  ["Which one is cheaper?", "which one is cheaper"],
  ["Is it far?", "whether it is far"],
  ["Can my dog eat grapes?", "whether your dog can eat grapes"],
  ["How many legs does a spider have?", "how many legs a spider has"],
  ["How do I celebrate?", "how to celebrate"],
  ["When does the train leave?", "when the train leaves"],
  // Where a thing's name ends is not plain, or somebody else does it.
  ["What time does the last train to Leeds leave?", null],
  ["Is the baby girl normal?", null],
  ["What jam should I make?", null],
  ["Does it always rain there?", null],
  // Of both of us, of no verb that is known, of no form: none.
  ["Are you sure?", null],
  ["Why did it capsize?", null],
  ["And what about rice?", null],
  ["Really?", null],
  ["I like cheese.", null],
  ["", null],
];

for (const [asked, clause] of ASKED)
  test(`${asked} → ${clause}`, () => {
    assert.equal(indirectQuestion(asked), clause);
  });
