import assert from "node:assert/strict";
import { test } from "node:test";
import { createPhonemizer } from "../../src/text/phonemes/phonemizer.ts";
import { phonemeIds } from "../../src/text/phonemes/sentence-phonemes.ts";
import { splitSentences } from "../../src/text/sentences/sentences.ts";
import fc from "../properties.ts";
import { slowTexts } from "./slow-texts.ts";
import { letterB, tables } from "./voice.ts";

const phonemizer = createPhonemizer(tables, letterB);

/** Fragments that rules match, for random combination. */
const fragments = fc.constantFrom(
  ..."$ £ € ¢ ° % # & + = < > ~ ( ) [ ] ]( / // ' '' \" “ ” ‘ ’ … . .. , : ; - -- — _ * ^ ` | @ 2 1/2 3.5 1,000".split(
    " ",
  ),
  ..."10:30 p.m. Mr. No. vol. U.S. I IV King Act Jan. 5th km $5 www. .com http:// n't 's -5 1-2 555-1234".split(
    " ",
  ),
  ..."to the a in used İ ① ⑴ ß ﬁ é ٣ ½ Ⅳ 日 😀 \ud800 \udc00 \u0000 \u200b \u00a0".split(" "),
  "\n",
  " ",
  "constructor",
  "__proto__",
);
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc
    .array(fc.oneof(fragments, fc.string({ maxLength: 6 })), { maxLength: 25 })
    .map((parts) => parts.join("")),
);

test("any text yields ids of the vocabulary only", async () => {
  const ids = new Set([0, ...tables.vocabulary.values()]);
  await fc.assert(
    fc.asyncProperty(text, async (odd) => {
      for (const phonemes of await phonemizer.phonemes(odd)) {
        assert.notEqual(phonemes, "");
        assert.ok(phonemeIds(phonemes, tables).every((id) => ids.has(id)));
      }
    }),
    { numRuns: 1500 },
  );
});

test("sentences keep every character except spaces, in order", () => {
  const bare = (piece: string): string => piece.replace(/[\s\x1c-\x1f\x85]/g, "");
  fc.assert(
    fc.property(text, (odd) => {
      assert.equal(
        bare(
          splitSentences(odd)
            .map((piece) => piece.text)
            .join(""),
        ),
        bare(odd),
      );
    }),
    { numRuns: 2000 },
  );
});

test("reading is deterministic", async () => {
  await fc.assert(
    fc.asyncProperty(text, async (odd) => {
      assert.deepEqual(await phonemizer.phonemes(odd), await createPhonemizer(tables, letterB).phonemes(odd));
    }),
    { numRuns: 100 },
  );
});

for (const [piece, odd] of slowTexts()) {
  test(`the longest text of ${JSON.stringify(piece)} is accepted`, async () => {
    for (const phonemes of await phonemizer.phonemes(odd)) phonemeIds(phonemes, tables);
  });
}
