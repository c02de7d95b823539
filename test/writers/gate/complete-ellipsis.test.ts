import assert from "node:assert/strict";
import { test } from "node:test";
import { completeEllipsis } from "../../../src/writers/gate/complete-ellipsis.ts";
import { byTurns } from "../dialogues.ts";

/** Turns of one person and us, and the last one made whole; `null` where it stands as it is. */
const TALKS: readonly (readonly [turns: readonly string[], whole: string | null])[] = [
  [
    ["What's the capital of Australia?", "Canberra.", "And New Zealand?"],
    "What's the capital of New Zealand?",
  ],
  [
    ["What's the capital of Australia?", "Canberra.", "And Peru?", "Lima.", "Chile?"],
    "What's the capital of Chile?",
  ],
  [
    ["How many players are in a football team?", "Eleven.", "And basketball?"],
    "How many players are in a basketball team?",
  ],
  [["How many hearts has an octopus?", "Three.", "How many arms?"], "How many arms has an octopus?"],
  [["What year did the Titanic sink?", "In 1912.", "Where?"], "Where did the Titanic sink?"],
  [
    ["How many seconds are in an hour?", "Three thousand six hundred.", "in a day"],
    "How many seconds are in a day?",
  ],
  [["Who painted the Mona Lisa?", "Leonardo da Vinci.", "Where is it now?"], "Where is the Mona Lisa now?"],
  [
    ["Who wrote Frankenstein?", "It was Mary Shelley, in 1818.", "How old was she then?"],
    "How old was Mary Shelley then?",
  ],
  [["I'm making a frittata.", "Lovely.", "How long does it take?"], "How long does the frittata take?"],
  [["Can I take ibuprofen with coffee?", "Yes.", "With vodka?"], "Can I take ibuprofen with vodka?"],
  [["How do I tie a bow?", "Like a shoelace.", "A noose?"], "How do I tie a noose?"],
  [["How many legs has a spider?", "Eight.", "An ant?"], "How many legs has an ant?"],
  [["Can my dog eat grapes?", "No.", "Bleach?"], "Can my dog eat bleach?"],
  [["Can my dog swim?", "Yes.", "My cat?"], "Can my cat swim?"],
  [["Did Einstein win a Nobel?", "Yes.", "Newton?"], "Did Newton win a Nobel?"],
  [["My brother is in a coma.", "I'm sorry.", "Is he awake?"], "Is my brother awake?"],
  [["My sister moved to Leeds.", "Nice.", "What's her job?"], "What's my sister's job?"],
  [["My sister moved to Leeds.", "Nice.", "Should I visit her?"], "Should I visit my sister?"],
  // What is said of an answer.
  [["What's the capital of Peru?", "Lima.", "Never mind."], null],
  [["What's the capital of Peru?", "Lima.", "Seriously?"], null],
  [["What's the capital of Peru?", "Lima.", "Help!"], null],
  [["What's the capital of Peru?", "Lima.", "And my mother's funeral?"], null],
  [["I live in Paris.", "How nice.", "Are you there?"], null],
  [["I have the flu.", "I'm sorry.", "Does it hurt to die?"], null],
  // What stands alone, what answers us, what names something itself, what there is nothing to lean on for.
  [["What's the capital of Australia?", "Canberra.", "What's the time in Perth?"], null],
  [["I've never seen snow.", "Where do you live?", "In Singapore."], null],
  [["I fed the cat.", "Good.", "The dog is ill. Should it fast?"], null],
  [["Hello.", "Hello!", "Is it far?"], null],
  [["Is it far?"], null],
  [["What's the capital of Peru?", "Lima.", "Thanks."], null],
];

for (const [turns, whole] of TALKS)
  test(`${turns.join(" / ")} → ${whole}`, () => {
    assert.equal(completeEllipsis(byTurns(turns), "1")[0] ?? null, whole);
  });
