import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { pausesS, spokenText } from "../../../src/core/marked-text.ts";
import { MAX_PASSAGE_CHARS } from "../../../src/text/sentences/passages.ts";
import { parseMarkup } from "../../../src/text/ssml/parse-markup.ts";
import { splitSsml } from "../../../src/text/ssml/split-ssml.ts";
import fc from "../../properties.ts";

const read = (text: string) => parseMarkup(text, true, ([name = ""]) => name);
const wordsIn = (text: string) => text.match(/[\p{L}\p{N}&]+/gu) ?? [];

describe("a long SSML text", () => {
  test("is split into documents with the same words and pauses", () => {
    const part = fc.constantFrom(
      "<p><s>The kettle is on.</s> <s>Tea in five minutes &amp; milk.</s></p>\n",
      '<prosody rate="80%">Slowly now. <emphasis>Very</emphasis> slowly, and <break time="1s"/> quietly.</prosody> ',
      '<say-as interpret-as="characters">ABC</say-as> <sub alias="Doctor. Who">Dr. W</sub> ',
      "A plain sentence. Another one, [pause:0.5s] too! <![CDATA[a <b> c. D e.]]> ",
      '<voice name="1"><p>He said so. <mark name="m"/>She did not.</p></voice><!-- c -->',
    );
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 200 }), (parts) => {
        const text = `<?xml version="1.0"?>\n<speak xml:lang="en-US">${parts.join("")}</speak>`;
        const whole = read(text);
        const passages = splitSsml(text).map(({ text: each }) => read(each));
        assert.deepEqual(
          passages.flatMap(({ piece }) => wordsIn(spokenText(piece))),
          wordsIn(spokenText(whole.piece)),
        );
        const pauses = passages.reduce((sum, { piece }) => sum + pausesS(piece), 0);
        assert.ok(Math.abs(pauses - pausesS(whole.piece)) < 1e-6);
        for (const each of splitSsml(text))
          assert.ok(each.text.length < MAX_PASSAGE_CHARS + 1_000, `${each.text.length}`);
        assert.equal(splitSsml(text).at(-1)?.readChars, text.length);
      }),
      { numRuns: 40 },
    );
  });

  test("reopens its open elements in each document", () => {
    const text = `<speak><prosody rate="80%"><voice name="1">${"Seven words of prose are said here. ".repeat(100)}</voice></prosody></speak>`;
    const passages = splitSsml(text);
    assert.ok(passages.length >= 2);
    for (const { text: each } of passages) {
      assert.ok(each.startsWith('<speak><prosody rate="80%"><voice name="1">Seven'), each.slice(0, 60));
      assert.ok(each.endsWith("</voice></prosody></speak>"));
    }
  });

  test("is split without sentence ends, but not within silent elements", () => {
    for (const text of [
      `<speak>${'Sentence. <break time="1s"/>'.repeat(600)}</speak>`,
      `<speak>${"<emphasis>word</emphasis> ".repeat(600)}</speak>`,
      `<speak><![CDATA[${"A sentence of a & b. ".repeat(600)}]]></speak>`,
      `<speak>${"word ".repeat(4_000)}</speak>`,
      `<speak><p>One.</p><metadata>${"x".repeat(20_000)}</metadata><desc>y</desc><p>Two.</p></speak>`,
    ]) {
      const passages = splitSsml(text);
      for (const { text: each } of passages)
        assert.ok(each.length < 8_000, `${each.length}: ${each.slice(0, 99)}`);
      const words = passages.flatMap(({ text: each }) => wordsIn(spokenText(read(each).piece)));
      assert.deepEqual(words, wordsIn(spokenText(read(text).piece)));
    }
  });

  test("is not split next to a break", () => {
    const text = `<speak>${'<p>Some words are said here. And then some more.</p><break time="1s"/>'.repeat(100)}</speak>`;
    const passages = splitSsml(text);
    assert.ok(passages.length > 2);
    const atBreak = passages.filter(({ text: each }) =>
      /<break[^>]*>(?:<\/\w+>)*$|^<speak><break/.test(each),
    );
    assert.deepEqual(atBreak.slice(0, -1), []);
  });

  test("maps each part to its position in the original", () => {
    const text = `<speak><!-- é -->${"<p>Ünï <![CDATA[a & b]]> <desc>no</desc>words.</p>".repeat(200)}</speak>`;
    for (const { text: passage, parts } of splitSsml(text)) {
      for (const [index, { at, from }] of parts.slice(0, -1).entries()) {
        const length = 4;
        if (parts[index + 1]!.at - at < length) continue;
        assert.equal(passage.slice(at, at + length), text.slice(from, from + length));
      }
    }
  });

  test("keeps a trailing mark", () => {
    const text = `<speak>${"Word is said here now. ".repeat(400)}<mark name="end"/></speak>`;
    assert.match(splitSsml(text).at(-1)!.text, /<mark name="end"\/><\/speak>$/);
  });

  test("is rejected if it is malformed, and yields nothing without words", () => {
    assert.throws(() => splitSsml("<speak><p>One.</speak>"), /never closed|closes another/);
    assert.deepEqual(splitSsml("<speak><break/></speak>"), []);
  });
});
