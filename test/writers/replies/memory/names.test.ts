import assert from "node:assert/strict";
import { test } from "node:test";
import { answerName } from "../../../../src/writers/replies/memory/names.ts";

import { byTurns } from "../../dialogues.ts";

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
  [
    "My brother Theo was filming.",
    "I see.",
    "wait what did i say my brothers name was, i wanna see if you were listening",
    "Your brother's name is Theo.",
  ],
  [
    "The goat's called Kevin, by the way.",
    "Ha!",
    "What was the goat's name again?",
    "The goat's name is Kevin.",
  ],
  ["my cat Biscuit sat on it", "Oh no.", "Do you remember my cat's name?", "Your cat's name is Biscuit."],
  ["my name is tom", "Hi.", "What's my name?", "You told me your name is Tom."],
  ["MY NAME IS TOM", "Hi.", "What's my name?", "You told me your name is Tom."],
  ["Hello.", "Hi.", "my name is Tobias what's my name", "You told me your name is Tobias."],
  ["hi, im Bartek, just moved here", "Hi.", "do you know my name", "You told me your name is Bartek."],
  ["I'm Dr. Smith.", "Hi.", "What's my name?", "You told me your name is Dr. Smith."],
  ["My name is Mary Ann.", "Hi.", "What's my name?", "You told me your name is Mary Ann."],
  ...[
    "I'm OK.",
    "I'm Tom's sister.",
    "I'm Swedish.",
    "This is Tom, my brother.",
    "My boss will call me Monday.",
    "My name is not Tom.",
    "my name is hard to say",
  ].map((said) => [
    said,
    "I see.",
    "What's my name?",
    "You haven't told me your name. What should I call you?",
  ]),
];
for (const turns of CASES) {
  test(turns.join(" / "), () => {
    const history = byTurns(turns.slice(0, -1));
    assert.equal(answerName(history, "1"), turns.at(-1));
  });
}

for (const asked of [
  "What's your name?",
  "What's my brother's name?",
  "My name is long.",
  "Who is it?",
  "What did I say my sister wanted?",
  "What's the name of the film?",
  "Who am I kidding?",
  "Everyone should know my name by now",
  "What's my name in Japanese?",
  `what is my name${"?".repeat(7900)}x`,
]) {
  test(`${asked.slice(0, 60)} is left to others`, () => {
    const history = byTurns(["My brother plays the trumpet.", "Nice.", asked]);
    assert.equal(answerName(history, "1"), null);
  });
}

test("what somebody else is called is not the name of whoever asks", () => {
  const turn = (speaker: string, text: string) => ({ speaker, text, audio: null });
  const history = [
    turn("0", "I'm Ann."),
    turn("2", "And I'm Bob."),
    turn("1", "Hello."),
    turn("0", "What's my name?"),
  ];
  assert.equal(answerName(history, "1"), "You told me your name is Ann.");
});

for (const said of [
  "My dog died. A dog named Fido bit me.",
  "My old dog was called Rex. The dog, Max, is my neighbour's.",
  "My dog is called Rex. My other dog is called Fido.",
  "My dog, Then I left.",
]) {
  test(`${said} does not tell what a dog is called`, () => {
    const history = [said, "I see.", "What's my dog's name?"].map((text, n) => ({
      speaker: n % 2 === 0 ? "0" : "1",
      text,
      audio: null,
    }));
    assert.equal(answerName(history, "1"), null);
  });
}
