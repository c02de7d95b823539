import assert from "node:assert/strict";
import { test } from "node:test";
import { ownCorrection } from "../../../../src/writers/replies/memory/corrections.ts";

const SAID: readonly (readonly [said: string, right: string | null])[] = [
  ["I meant Carol, and make it Friday.", "Carol, and Friday"],
  ["no wait, it's the 14th not the 4th", "the 14th"],
  ["Actually, make that two.", "two"],
  ["Sorry, not Tuesday but Wednesday.", "Wednesday"],
  ["I can't stand it. I mean hate, really", null],
  ["No, I mean my blue one", "your blue one"],
  ["Sorry, it's half past ten", "half past ten"],
  ["wait, actually 6pm", "6pm"],
  ["I meant it.", null],
  ["I meant every word", null],
  ["I mean business", null],
  ["Oh, my dog", null],
  ["Oh, the pain", null],
  ["Oh, my God", null],
  ["Make it up", null],
  ["Let's call it a day.", null],
  ["Not bad but a bit tired", null],
  ["I meant what I said.", null],
  ["It's raining, not snowing?", null],
  ["I made it to Friday.", null],
  ["Make me a cake.", null],
];

for (const [said, right] of SAID)
  test(`${said} → ${right}`, () => {
    assert.equal(ownCorrection(said), right);
  });
