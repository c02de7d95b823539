import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { historyWindow } from "../../../src/writers/llama/prompt.ts";
import fc from "../../properties.ts";
import { heard, said } from "../dialogues.ts";

const OPTIONS = { maxChars: 100, stepChars: 40 };
const history = fc.array(
  fc.oneof(
    fc.integer({ min: 1, max: 60 }).map((length) => said("0", "x".repeat(length))),
    fc.constant(heard("1")),
  ),
  { minLength: 1, maxLength: 40 },
);
const chars = (turns: readonly { readonly text: string | null }[]) =>
  turns.reduce((sum, { text }) => sum + (text?.length ?? 0), 0);

describe("historyWindow", () => {
  it("keeps the newest turns within maxChars, and always one", () => {
    fc.assert(
      fc.property(history, (turns) => {
        const kept = historyWindow(turns, OPTIONS);
        assert.deepEqual(kept, turns.slice(turns.length - kept.length));
        assert.ok(kept.length >= 1);
        assert.ok(kept.length === 1 || chars(kept) <= OPTIONS.maxChars);
      }),
    );
  });

  it("moves its start at most once per stepChars", () => {
    const starts = new Set<number>();
    const turns = Array.from({ length: 100 }, () => said("0", "x".repeat(10)));
    for (let length = 1; length <= turns.length; length++) {
      const kept = historyWindow(turns.slice(0, length), OPTIONS);
      starts.add(length - kept.length);
    }
    assert.ok(starts.size <= 1_000 / OPTIONS.stepChars, `${starts.size} starts`);
  });

  it("keeps a short history whole", () => {
    const turns = [said("0", "Hello."), heard("1")];
    assert.deepEqual(historyWindow(turns, OPTIONS), turns);
    assert.deepEqual(historyWindow([], OPTIONS), []);
  });
});
