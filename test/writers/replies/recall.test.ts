import assert from "node:assert/strict";
import { test } from "node:test";
import { recalled } from "../../../src/writers/replies/recall.ts";

const CASES: readonly (readonly [...turns: string[]])[] = [
  ["Hi, I'm Priya.", "Nice to meet you.", "What's my name?", "You told me your name is Priya."],
  ["my name is Tom", "Hi Tom.", "Do you know my name?", "You told me your name is Tom."],
  [
    "i like trains",
    "I see.",
    "Do you know my name?",
    "You haven't told me your name. What should I call you?",
  ],
  ["My name's Tom, by the way.", "Hi Tom.", "do you remember my name?", "You told me your name is Tom."],
  ["I'm Sorry about that. I am Ana.", "Hi.", "so what is my name?", "You told me your name is Ana."],
  ["My dog's called Biscuit.", "Lovely.", "What's my dog's name?", "Your dog's name is Biscuit."],
  ["Our cat is called Momo and she sleeps.", "Aw.", "what is our cat called?", "Your cat's name is Momo."],
];
for (const turns of CASES) {
  test(turns.join(" / "), () => {
    const history = turns
      .slice(0, -1)
      .map((text, n) => ({ speaker: n % 2 === 0 ? "0" : "1", text, audio: null }));
    assert.equal(recalled(history, "1"), turns.at(-1));
  });
}

for (const asked of ["What's your name?", "What's my brother's name?", "My name is long.", "Who is it?"]) {
  test(`${asked} is left to others`, () => {
    const history = ["My brother plays the trumpet.", "Nice.", asked].map((text, n) => ({
      speaker: n % 2 === 0 ? "0" : "1",
      text,
      audio: null,
    }));
    assert.equal(recalled(history, "1"), null);
  });
}
