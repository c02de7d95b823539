import assert from "node:assert/strict";
import { it } from "node:test";
import { ThoughtFilter, WrittenSentences } from "../../src/writers/written-sentences.ts";
import fc from "../properties.ts";

it("ThoughtFilter drops thoughts and keeps other tags, however the text is cut", () => {
  for (const [text, said] of [
    ["<think>\nHm, who asks?\n</think>\nHello.", "\nHello."],
    ["<THINK>a < b, </thinking> no</think>yes.", "yes."],
    ["<reasoning>x</reasoning>A\n <thinking>y</thinking>B", "A\n B"],
    ["You'd write <think> around it. Call 112.", "You'd write <think> around it. Call 112."],
    ["I <3 you, <thin> and a<b", "I <3 you, <thin> and a<b"],
    ["half</think> said", "half said"],
    ["<think>never done", ""],
    ["ends with <thi", "ends with <thi"],
  ] as const) {
    assert.equal(filtered(text.split("")), said, text);
    fc.assert(
      fc.property(fc.nat(text.length), fc.nat(text.length), (a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        assert.equal(filtered([text.slice(0, from), text.slice(from, to), text.slice(to)]), said);
      }),
    );
  }
});

it("WrittenSentences returns an unclosed thought at the end, but not one the template opened", () => {
  const sentences = new WrittenSentences();
  sentences.push("<think> begins a thought. Call 112.");
  assert.deepEqual(sentences.flush(true), ["<think> begins a thought.", "Call 112."]);
  const opened = new WrittenSentences("think");
  opened.push("Who asks?");
  assert.deepEqual(opened.flush(), []);
});

it("ThoughtFilter reports whether there was a thought", () => {
  const filter = new ThoughtFilter();
  filter.push("No\n");
  assert.equal(filter.hasThought, false);
  filter.push("<think>");
  assert.equal(filter.hasThought, true);
});

it("WrittenSentences returns a sentence when the next begins, and the rest on flush", () => {
  const sentences = new WrittenSentences();
  const pieces = ["Hello th", "ere.\n<think>Who? Me.</th", "ink>How are you? I am fi"];
  assert.deepEqual(
    pieces.map((piece) => sentences.push(piece)),
    [[], [], ["Hello there.", "How are you?"]],
  );
  assert.equal(sentences.hasThought, true);
  assert.deepEqual(
    sentences.flush(true, (rest) => `${rest}ne. Yes.`),
    ["I am fine.", "Yes."],
  );
  assert.deepEqual(sentences.flush(), []);
});

function filtered(pieces: readonly string[]): string {
  const filter = new ThoughtFilter();
  return pieces.map((piece) => filter.push(piece)).join("") + filter.flush();
}
