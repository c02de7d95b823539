import assert from "node:assert/strict";
import { test } from "node:test";
import { answerSum } from "../../../src/writers/small-talk/answer-sum.ts";
import { numberIn } from "../../../src/writers/small-talk/quantities.ts";
import fc from "../../properties.ts";

const ANSWERS: Readonly<Record<string, string>> = {
  "What's 17 times 24?": "That's 408.",
  "what is fifteen percent of eighty": "That's 12.",
  "Hey, can you tell me what's two hundred and fifty plus a hundred?": "That's 350.",
  "12+7*3": "That's 33.",
  "what's 100 minus 37 minus 3?": "That's 60.",
  "What is a third of 99?": "That's 33.",
  "what is the square root of 144?": "That's 12.",
  "What's 10 divided by 3?": "That's about 3.33.",
  "What is 10 divided by 0": "Nothing can be divided by zero.",
  "what's two and a half times four": "That's 10.",
  "What is 10 minus one hundred and five?": "That's -95.",
  "what is 5 plus 20% of 50": "That's 15.",
  "20 percent of 50 plus 10": "That's 20.",
  "what is minus five plus three": "That's -2.",
  "what's 19.99 plus 3.49?": "That's 23.48.",
  "what is 0 times -5": "That's 0.",
  "2+2=?": "That's 4.",
  "17x24?": "That's 408.",
  "what is six feet in meters": "6 feet are about 1.83 meters.",
  "what's minus 40 celsius in fahrenheit": "-40 degrees Celsius is -40 degrees Fahrenheit.",
  "What is 2 to the power of 10?": "That's 1,024.",
  "How many ounces are in a pound?": "1 pound is 16 ounces.",
  "how many feet in a mile": "1 mile is 5,280 feet.",
  "convert 5 miles to kilometers": "5 miles are about 8.05 kilometers.",
  "What is 72 degrees Fahrenheit in Celsius?": "72 degrees Fahrenheit is about 22.2 degrees Celsius.",
  "180 celsius in fahrenheit": "180 degrees Celsius is 356 degrees Fahrenheit.",
  "How many tablespoons in half a cup?": "half a cup is 8 tablespoons.",
  "How many minutes are there in two hours?": "2 hours are 120 minutes.",
  "How many days are in February?": "February has 28 days, and 29 in a leap year.",
  "how many days does June have": "June has 30 days.",
  "What is 2 to the 10th?": "That's 1,024.",
  "what is 3 less than 10": "That's 7.",
  "what is 5 more than 7": "That's 12.",
  "how many days in a month": "A month has 28 to 31 days.",
  "How much is $5 plus $3?": "That's 8.",
  "What's 10/2?": "That's 5.",
  "What's 3/4 of 80?": "That's 60.",
  "what's seven eighths of 64": "That's 56.",
  "half of 90?": "That's 45.",
  "How much is 1/2 plus 1/4?": "That's 0.75.",
  "What is 20 percent off 50?": "That's 40.",
  "what is 100 / 3": "That's about 33.3.",
  "How many days are there in a leap year?": "A leap year has 366 days.",
};
for (const [question, answer] of Object.entries(ANSWERS)) {
  test(`${question} ${answer}`, () => {
    assert.equal(answerSum(question), answer[0]!.toUpperCase() + answer.slice(1));
  });
}

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
]) {
  test(`${JSON.stringify(other)} is no sum`, () => assert.equal(answerSum(other), null));
}

test("whole numbers are understood as figures, with commas, and in words", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999 }), (count) => {
      assert.equal(numberIn(String(count)), count);
      assert.equal(numberIn(count.toLocaleString("en-US")), count);
      assert.equal(numberIn(inWords(count)), count, inWords(count));
    }),
  );
});

test("sums in words are those of the language's own arithmetic", () => {
  const number = fc.integer({ min: 1, max: 999 });
  fc.assert(
    fc.property(number, number, (a, b) => {
      assert.equal(
        answerSum(`What's ${inWords(a)} plus ${inWords(b)}?`),
        `That's ${(a + b).toLocaleString("en-US")}.`,
      );
    }),
  );
});

test("whatever is asked, something is worked out or nothing, and soon", () => {
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
