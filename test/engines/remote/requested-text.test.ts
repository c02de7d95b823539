import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RequestedTexts, startedSentences } from "../../../src/engines/remote/requested-text.ts";
import type { PlainItem } from "../../../src/text/speak-plain.ts";
import { CountedText } from "../../core/scripts.ts";
import fc from "../../properties.ts";

async function all(pieces: readonly string[], maxChars = 100): Promise<{ text: string; offset: number }[]> {
  const texts = new RequestedTexts(new CountedText(pieces), maxChars);
  const found: { text: string; offset: number }[] = [];
  for (let next = await texts.next(); next !== null; next = await texts.next()) found.push(next);
  return found;
}

describe("RequestedTexts", () => {
  it("returns a piece at a time, with its offset", async () => {
    assert.deepEqual(await all(["🙂 One.", " Two."]), [
      { text: "🙂 One.", offset: 0, breakS: 0 },
      { text: " Two.", offset: 6, breakS: 0 },
    ]);
  });

  it("skips what cannot be spoken, and counts it", async () => {
    assert.deepEqual(await all(["…", " One.", " — "]), [{ text: " One.", offset: 1, breakS: 0 }]);
    assert.deepEqual(await all(["", "!"]), []);
  });

  it("joins silences before the next words", async () => {
    const items: PlainItem[] = [
      { pauseS: 1 },
      "One.",
      { pauseS: 0.5 },
      " … ",
      { pauseS: 2 },
      "Two.",
      { pauseS: 3 },
    ];
    const texts = new RequestedTexts(itemsOf(items), 100);
    assert.deepEqual(await texts.next(), { text: "One.", offset: 0, breakS: 1 });
    assert.deepEqual(await texts.next(), { text: "Two.", offset: 7, breakS: 2.5 });
    assert.equal(await texts.next(), null);
    assert.equal(texts.breakS, 3);
  });

  it("divides a long piece between sentences, else words, else anywhere", async () => {
    const texts = async (text: string) => (await all([text], 20)).map((each) => each.text);
    const sentences = ["One is here. ", "Two is there. Three."];
    assert.deepEqual(await texts("One is here. Two is there. Three."), sentences);
    assert.deepEqual(await texts("one two three four five six"), ["one two three four ", "five six"]);
    assert.deepEqual(await texts("🙂".repeat(20) + "a".repeat(25)), ["a".repeat(20), "aaaaa"]);
  });

  it("loses nothing speakable, within the limit", async () => {
    const piece = fc.string({ unit: fc.constantFrom("a", "B", " ", ". ", "🙂", "\n", "? "), maxLength: 120 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 5 }),
        fc.integer({ min: 1, max: 50 }),
        async (pieces, most) => {
          const whole = [...pieces.join("")];
          const found = await all(pieces, most);
          for (const { text, offset } of found) {
            assert.ok([...text].length <= most);
            assert.equal(whole.slice(offset, offset + [...text].length).join(""), text);
          }
          const spoken = (text: string) => text.replaceAll(/[^aB]/g, "");
          assert.equal(spoken(found.map(({ text }) => text).join("")), spoken(whole.join("")));
        },
      ),
    );
  });

  it("releases its text once, but not after the end", async () => {
    const left = new CountedText(["One.", "Two."]);
    const texts = new RequestedTexts(left, 100);
    await texts.next();
    texts.release();
    assert.equal(left.isReleased, true);
    assert.equal(await texts.next(), null);
    const ended = new CountedText([]);
    const over = new RequestedTexts(ended, 100);
    await over.next();
    over.release();
    assert.equal(ended.isReleased, false);
  });
});

async function* itemsOf(items: readonly PlainItem[]): AsyncGenerator<PlainItem> {
  yield* items;
}

it("startedSentences returns the sentences of which something was spoken", () => {
  const text = "🙂 One is here. Two is there. Three.";
  assert.equal(startedSentences(text, 0), "🙂 One is here. ");
  assert.equal(startedSentences(text, 14), "🙂 One is here. ");
  assert.equal(startedSentences(text, 18), "🙂 One is here. Two is there. ");
  assert.equal(startedSentences(text, 99), text);
});
