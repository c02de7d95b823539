import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DIFFERENCES } from "../../src/text/differences.ts";
import { createPhonemizer } from "../../src/text/phonemizer.ts";
import { openNet, tables } from "./voice.ts";

const { net, close } = await openNet();
after(close);

const reference = createPhonemizer(tables, net, { readings: "reference" });
const improved = createPhonemizer(tables, net);

for (const { id, text, before, after: better } of DIFFERENCES) {
  test(`"${text}" is read as before without ${id}, and better with it alone and with all`, async () => {
    assert.deepEqual(await reference.phonemes(text), before);
    assert.deepEqual(await createPhonemizer(tables, net, { readings: [id] }).phonemes(text), better);
    assert.deepEqual(await improved.phonemes(text), better);
    assert.notDeepEqual(before, better);
  });
}

test("every difference is in the table once", () => {
  const ids = DIFFERENCES.map((difference) => difference.id);
  assert.equal(new Set(ids).size, ids.length);
});

const SAME_AS: readonly (readonly [text: string, words: string])[] = [
  ["Take Part C and Part II.", "Take Part see and Part 2."],
  ["George I think so.", "George eye think so."],
  ["Henry V's army", "Henry the fifth's army"],
  ["Chapter I begins.", "Chapter 1 begins."],
  ["It was no. 5.", "It was number 5."],
  ["The 2nd ed. of it", "The 2nd edition of it"],
  ["Call 555-1234.", "Call 5 5 5, 1 2 3 4."],
  ["About 1/2.", "About one half."],
  ["$8.5 billion dollars", "8.5 billion dollars"],
  ["It made $2.5bn.", "It made 2.5 billion dollars."],
  ["It cost $5, 6 people paid.", "It cost 5 dollars, 6 people paid."],
  ["Write to joe@example.com.", "Write to joe at example dot com."],
];
for (const [text, words] of SAME_AS) {
  test(`"${text}" sounds like "${words}"`, async () => {
    const plain = (phonemes: readonly string[]): string => phonemes.join("|").replace(/[ˈˌ]/g, "");
    assert.equal(plain(await improved.phonemes(text)), plain(await improved.phonemes(words)));
  });
}

test("what looks like an abbreviation, numeral or address but is none keeps its reading", async () => {
  for (const text of [
    "Then I left. No one knew.",
    "I said so. Tell me.",
    "It is 5 to 6, or so.",
    "my level is IV",
  ]) {
    assert.deepEqual(await improved.phonemes(text), await reference.phonemes(text), text);
  }
});
