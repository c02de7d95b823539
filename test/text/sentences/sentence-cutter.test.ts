import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_SENTENCE_CHARS, SentenceCutter } from "../../../src/text/sentences/sentence-cutter.ts";
import fc from "../../properties.ts";

test("a sentence is returned when the next begins, the last one on flush", () => {
  const cutter = new SentenceCutter();
  assert.deepEqual(cutter.push("Hello there."), []);
  assert.deepEqual(cutter.push(" "), []);
  assert.deepEqual(cutter.push("H"), ["Hello there."]);
  assert.deepEqual(cutter.push("ow are you? Fine, I"), ["How are you?"]);
  assert.equal(cutter.flush(), "Fine, I");
  assert.equal(cutter.flush(), null);
});

test("an abbreviation, a number or an initial at a chunk's end ends no sentence", () => {
  for (const [text, sentences] of [
    ["I saw Dr. Smith. He waved.", ["I saw Dr. Smith.", "He waved."]],
    ["It is 3.5 miles, e.g. by bus. Go.", ["It is 3.5 miles, e.g. by bus.", "Go."]],
    ["The U.S. Army left. Then it came back.", ["The U.S. Army left.", "Then it came back."]],
    ["They left the U.S. An hour later it rained.", ["They left the U.S.", "An hour later it rained."]],
    ["They left the U.S. Another came.", ["They left the U.S. Another came."]],
    ['He said "Go." Then he went.', ['He said "Go."', "Then he went."]],
    ["See No. 5. Yes.", ["See No. 5.", "Yes."]],
    ["Wait... what? Really!", ["Wait... what?", "Really!"]],
  ] as const) {
    assert.deepEqual(cut(text.split("")), sentences, text);
    assert.deepEqual(cut([text]), sentences, text);
  }
});

test("a newline ends a sentence, and any whitespace becomes a space", () => {
  assert.deepEqual(cut(["One\n\n two.\tMr. Three\u00a0went.\r\nFour"]), [
    "One",
    "two.",
    "Mr. Three went.",
    "Four",
  ]);
});

test("a run-on text is cut after a clause, else between words, else anywhere", () => {
  const words = "and then we walked on ".repeat(80);
  const clauses = "and then we walked on, ".repeat(80);
  for (const text of [words, clauses, "x".repeat(2000), "𝒳".repeat(1000)]) {
    const cutter = new SentenceCutter();
    const parts = cutter.push(text);
    assert.ok(parts.length >= 2, `${parts.length} parts`);
    for (const part of parts) assert.ok(part.length <= MAX_SENTENCE_CHARS && part.length > 190, part);
    const rest = cutter.flush() ?? "";
    const joined = [...parts, rest].join(text.includes(" ") ? " " : "");
    assert.equal(joined, text.trim());
    assert.ok(joined.isWellFormed() && parts.every((part) => part.isWellFormed()));
  }
  assert.ok(new SentenceCutter().push(clauses).every((part) => part.endsWith(",")));
});

test("the first clause of a long first sentence is emitted alone, for any chunks", () => {
  const long =
    "I would have thought, if you ask me, that nobody walks there at night, but they do. Do they, at this hour of the night?";
  for (const pieces of [[long], long.split(""), long.split(/(?<= )/)]) {
    const cutter = new SentenceCutter();
    assert.deepEqual(
      [...pieces.flatMap((piece) => cutter.push(piece, 60)), cutter.flush()],
      [
        "I would have thought,",
        "if you ask me, that nobody walks there at night, but they do.",
        "Do they, at this hour of the night?",
      ],
    );
  }
  for (const text of ["Yes, well, that is so. No.", `${"and then we walked on ".repeat(5)}. No.`]) {
    const cutter = new SentenceCutter();
    assert.equal([...cutter.push(text, 60), cutter.flush()].length, 2, text);
  }
});

test("any chunks yield the same sentences, without loss", () => {
  const fragment = fc.oneof(
    fc.constantFrom(". ", "! ", "? ", "… ", '." ', ".) ", "\n", ", ", " ", "\t", "\u00a0", "\ufeff", "."),
    fc.constantFrom("Mr", "Dr", "U.S", "e.g", "No", "A", "An", "The", "Then", "Jan", "5", "3.5", "I", "B"),
    fc.constantFrom("hello", "world", "Yes", "😀", "𝓪bc", "𐐀", "é", "“Oh", "”", "(so)", "word ".repeat(130)),
    fc.string({ unit: "grapheme", maxLength: 6 }),
  );
  const text = fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.array(fc.nat(60), { minLength: 1, maxLength: 30 }), (whole, sizes) => {
      const expected = cut([whole]);
      assert.deepEqual(cut(whole.split("")), expected);
      assert.deepEqual(cut(piecesOf(whole, sizes)), expected);
      assert.equal(bare(expected.join("")), bare(whole));
      for (const sentence of expected) assert.ok(sentence !== "" && sentence.trim() === sentence);
    }),
    { numRuns: 300 },
  );
});

test("a long text in single characters is cut in linear time", () => {
  const cutter = new SentenceCutter();
  let sentences = 0;
  for (let i = 0; i < 2_000; i++)
    for (const character of "and on it goes ") sentences += cutter.push(character).length;
  assert.ok(sentences >= 49, `${sentences}`);
});

function cut(pieces: readonly string[]): string[] {
  const cutter = new SentenceCutter();
  const sentences = pieces.flatMap((piece) => cutter.push(piece));
  const rest = cutter.flush();
  return rest === null ? sentences : [...sentences, rest];
}

function piecesOf(text: string, sizes: readonly number[]): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (let index = 0; start < text.length; index++) {
    const size = sizes[index % sizes.length]! + (index % 2);
    pieces.push(text.slice(start, start + size));
    start += size;
  }
  return pieces;
}

function bare(text: string): string {
  return text.replaceAll(/[\s\x1c-\x1f\x85]/g, "");
}
