import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answerSum } from "../../../src/writers/small-talk/answer-sum.ts";
import { numberIn } from "../../../src/writers/small-talk/quantities.ts";
import fc from "../../properties.ts";
import { readGolden } from "../golden.ts";

const { answers } = readGolden<{ answers: Record<string, string> }>("sums.json");

describe("answerSum", () => {
  for (const [question, answer] of Object.entries(answers))
    it(`answers ${question} with ${answer}`, () => {
      assert.equal(answerSum(question), answer[0]!.toUpperCase() + answer.slice(1));
    });

  for (const other of [
    "How many people live in Rome?",
    "what is love",
    "24/7",
    "What's 9/11?",
    "what's 9-1-1",
    "what is 555-1234",
    "What's 12/25/2023?",
    "what is 2024-11-22",
    "What's 24-7?",
    "4 x 100",
    "What's 120 over 80?",
    "what is 911 and 112",
    "what's one point two point three plus one",
    "what's a five plus a ten",
    "What is the square root of -1?",
    "what is 2^3^2",
    "what is 10 to the power of 400",
    "what is 999999999999 times 999999999999",
    "what is 1 divided by 1000000000",
    `how many a${" a".repeat(4000)}`,
    "10-4",
    "Call 555-1234.",
    "two and two",
    "how many miles to Babylon",
    "What is 5?",
    "what is 1/2",
    "how many grams in a mile",
    "What's the capital of Australia?",
    "I ran 5 miles in 40 minutes.",
    "",
  ])
    it(`leaves ${JSON.stringify(other).slice(0, 60)} alone`, () => assert.equal(answerSum(other), null));

  it("adds any two numbers in words", () => {
    const number = fc.integer({ min: 1, max: 999 });
    fc.assert(
      fc.property(number, number, (a, b) => {
        const question = `What's ${inWords(a)} plus ${inWords(b)}?`;
        assert.equal(answerSum(question), `That's ${(a + b).toLocaleString("en-US")}.`);
      }),
    );
  });

  it("answers any question with a finite number, or not at all", () => {
    const words = fc.constantFrom(
      ..."how many what's is in a an one half of and percent % + - * / ^ times plus ten hundred 5 1/2 .5 cups mile days year square root".split(
        " ",
      ),
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(words, fc.string()), { maxLength: 40 }), (parts) => {
        const answer = answerSum(parts.join(" "));
        assert.ok(answer === null || /^[A-Z\d-]/.test(answer), String(answer));
        assert.doesNotMatch(answer ?? "", /NaN|Infinity|undefined/);
      }),
    );
  });
});

it("numberIn reads whole numbers in figures, with commas and in words", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999 }), (count) => {
      assert.equal(numberIn(String(count)), count);
      assert.equal(numberIn(count.toLocaleString("en-US")), count);
      assert.equal(numberIn(inWords(count)), count, inWords(count));
    }),
  );
});
function inWords(count: number): string {
  const small =
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
      " ",
    );
  const tens = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
  if (count < 20) return small[count]!;
  if (count < 100) return `${tens[Math.floor(count / 10)]}${count % 10 ? `-${small[count % 10]}` : ""}`;
  const [unit, name] = count < 1000 ? [100, "hundred"] : [1000, "thousand"];
  const rest = count % unit;
  return `${inWords(Math.floor(count / unit))} ${name}${rest ? ` ${rest < 100 ? "and " : ""}${inWords(rest)}` : ""}`;
}
