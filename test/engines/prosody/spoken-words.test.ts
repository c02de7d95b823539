import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { sourcesOfWords } from "../../../src/engines/prosody/spoken-words.ts";
import { createPhonemizer, type Phonemizer } from "../../../src/text/phonemes/phonemizer.ts";
import type { TextRange } from "../../../src/text/rewritten-text.ts";
import { cutRunOn, spokenSentences } from "../../../src/text/sentences/sentences.ts";
import { TOP } from "../../architecture/top.ts";
import fc from "../../properties.ts";
import { letterB, tables } from "../../text/voice.ts";

const phonemizer = createPhonemizer(tables, letterB);
const withWords = createPhonemizer(tables, letterB, {
  words: [
    ["hello", "/fˈu/"],
    ["Paris", "pa ree"],
    ["é", "accent"],
  ],
});

/** The ranges of the text from which each spoken word comes. */
async function sources(text: string, { readWithSources }: Phonemizer): Promise<TextRange[]> {
  const spans: TextRange[] = [];
  for (const sentence of spokenSentences(text).flatMap(cutRunOn)) {
    assert.equal(text.slice(sentence.from, sentence.from + sentence.text.length), sentence.text);
    const said = await readWithSources(sentence.text);
    for (const { from, to } of sourcesOfWords({ ...said, before: 0 }, tables.vocabulary))
      spans.push({ from: sentence.from + from, to: sentence.from + to });
  }
  return spans;
}

/** Ordered, within the text, not blank, whole characters, equal or disjoint. */
function assertInOrder(spans: readonly TextRange[], text: string): void {
  let last: TextRange = { from: 0, to: 0 };
  for (const span of spans) {
    const where = `${JSON.stringify(text)}: ${JSON.stringify(span)} after ${JSON.stringify(last)}`;
    assert.ok(span.from >= last.from && span.to >= last.to && span.to <= text.length, where);
    assert.match(text.slice(span.from, span.to), /\S/u, where);
    last = span;
  }
}

/** Every word of plain letters is spoken. */
function assertCovered(spans: readonly TextRange[], text: string): void {
  for (const { index, 0: word } of text.matchAll(/(?<=^|\s)[A-Za-z]{2,}(?=$|[\s,.!?])/g)) {
    const isSaid = spans.some(({ from, to }) => from < index + word.length && to > index);
    assert.ok(
      isSaid,
      `${JSON.stringify(word)} of ${JSON.stringify(text)} is said by ${JSON.stringify(spans)}`,
    );
  }
}

const said = async (text: string) =>
  (await sources(text, phonemizer)).map(({ from, to }) => text.slice(from, to).trim());

describe("sourcesOfWords", () => {
  it("returns the written range of each spoken word", async () => {
    assert.deepEqual(await said("The kettle costs $5."), ["The", "kettle", "costs", "$5", "$5"]);
    assert.deepEqual(await said("Dr. King met  Chapter IV"), ["Dr.", "King", "met", "Chapter", "IV"]);
    const page = await said("See **[this page](http://a.b/c)** &amp; go");
    assert.deepEqual(page, ["See", "this", "page", "&amp;", "go"]);
    assert.deepEqual(await said("[tomato](/təmˈɑtoʊ/)'s, ’tis “tea”"), ["tomato", "tis", "tea"]);
    assert.deepEqual(await said("🙂 soft\u00adware\r\nis ④ ok"), ["soft\u00adware", "is", "④", "ok"]);
    assert.deepEqual(await said("IT IS TIME"), ["IT", "IS", "TIME"]);
    assert.deepEqual(await said("1914–1918"), Array(5).fill("1914–1918"));
  });

  const fragments = fc.constantFrom(
    ..."$ £ ¢ ° % # & + = < > ~ ( ) [ ] ]( / ' '' \" “ ” ‘ ’ … . , : ; - -- — _ * ** ` @ 1/2 3.5 1,000 10:30 p.m.".split(
      " ",
    ),
    ..."Mr. No. vol. U.S. I IV King Act Jan. 5th km $5 www. .com n't 's -5 1-2 555-1234 to the a used İ ① ß ﬁ é".split(
      " ",
    ),
    ..."e\u0301 ½ Ⅳ 日 😀 👩‍👩‍👧 \ud800 \u0000 \u200b \u00a0 שלום مرحبا \u202e &amp; <b> </b> ~~ \r\n \n \t".split(
      " ",
    ),
    ..."[a](b) [tomato](/təmˈɑtoʊ/) hello Paris IT IS TIME A-12 B2B don't iPhone word after word".split(" "),
  );
  const spaced = (separator: string) =>
    fc
      .array(fc.oneof(fragments, fc.string({ maxLength: 6 })), { maxLength: 25 })
      .map((parts) => parts.join(separator));
  const text = fc.oneof(
    spaced(" "),
    spaced(""),
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string({ unit: "grapheme", maxLength: 60 }),
  );

  it("returns ordered, disjoint ranges for any text", async () => {
    await fc.assert(
      fc.asyncProperty(text, async (odd) => {
        assertInOrder(await sources(odd, phonemizer), odd);
        assertInOrder(await sources(odd, withWords), odd);
      }),
      { numRuns: 2_000 },
    );
  });

  it("loses no word of plain letters", async () => {
    const words = fc.array(fc.oneof(fragments, fc.stringMatching(/^[a-z]{2,8}$/)), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(words, async (parts) => {
        const odd = parts.filter((part) => /^[\p{L}\p{N}\p{So}]/u.test(part)).join(" ");
        assertCovered(await sources(odd, phonemizer), odd);
      }),
      { numRuns: 1_000 },
    );
  });

  it("covers the golden texts", async () => {
    const lines = readFileSync(join(TOP, "test/golden/text/cases.jsonl"), "utf8").trim().split("\n");
    for (const line of lines) {
      const { text: golden } = JSON.parse(line) as { text: string };
      const spans = await sources(golden, phonemizer);
      assertInOrder(spans, golden);
      assertCovered(spans, golden);
    }
  });
});
