import assert from "node:assert/strict";
import { test } from "node:test";
import {
  borrowedWords,
  contentWords,
  datesAndNumbers,
} from "../../../src/writers/small-talk/content-words.ts";
import { nearestReplies, projected } from "../../../src/writers/small-talk/nearest-replies.ts";
import fc from "../../properties.ts";
import { smallBook } from "./small-book.ts";

const { bank, numbers } = smallBook();
const replies = (newest: number[], previous: number[] | null) =>
  nearestReplies(bank, numbers, Float32Array.from(newest), previous && Float32Array.from(previous)).map(
    ({ entry }) => entry.reply,
  );

test("the nearest comes first, and of equals the first", () => {
  assert.deepEqual(replies([1, 0], null), ["A blue one.", "Ask your cousin.", "Aye, I sailed there!"]);
  assert.deepEqual(replies([0, 1], null)[0], "Aye, I sailed there!");
});

test("what was said before counts beside it", () => {
  assert.equal(replies([1, 0], [1, 0])[0], "Ask your cousin.");
  const [first] = nearestReplies(bank, numbers, Float32Array.of(1, 0), Float32Array.of(1, 0));
  assert.ok((first?.likeness ?? 0) > 0.98);
});

test("a projected vector has length 127, but for rounding", () => {
  const vector = fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 2, maxLength: 2 });
  fc.assert(
    fc.property(vector, (values) => {
      fc.pre(Math.hypot(...values) > 1e-6);
      const length = Math.hypot(...projected(numbers.projection, Float32Array.from(values)));
      assert.ok(Math.abs(length - 127) < 2, String(length));
    }),
  );
});

test("a reply borrows the content words that it shares with its own conversation, whatever their endings", () => {
  assert.deepEqual(borrowedWords("Then your cousins may dance!", ["My cousin danced on Friday."]), [
    "cousin",
    "danc",
  ]);
  assert.deepEqual(borrowedWords("I'm so sorry to hear that.", ["I lost my job."]), []);
  assert.deepEqual([...contentWords("What do you want to do?")], []);
});

test("the numbers and days of a reply are told from its other words", () => {
  assert.deepEqual(datesAndNumbers("Two hundred! And 63 more on Wednesday."), [
    "two",
    "hundr",
    "63",
    "wednesday",
  ]);
  assert.deepEqual(datesAndNumbers("One step at a time."), []);
});
