import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SPANISH } from "../../../src/text/languages/es/spanish.ts";
import { loadItalian } from "../../../src/text/languages/it/italian.ts";
import { readSentence } from "../../../src/text/languages/language.ts";
import { RewrittenText } from "../../../src/text/rewritten-text.ts";
import fc from "../../properties.ts";
import { slowTexts } from "../slow-texts.ts";

const NONE = { english: () => null, given: () => null };
const LONG = 1_000_000;

for (const language of [SPANISH, await loadItalian()]) {
  const read = (text: string) => readSentence(language, RewrittenText.of(text), NONE);
  describe(`the reader of "${language.tag}"`, () => {
    it("reads any Unicode text, in order and twice the same", () => {
      const text = fc.oneof(
        fc.string({ unit: "binary", maxLength: 80 }),
        fc.string({ unit: "grapheme", maxLength: 80 }),
      );
      fc.assert(
        fc.property(text, (odd) => {
          const { phonemes, sources } = read(odd);
          assert.equal(read(odd).phonemes, phonemes);
          const count = phonemes.replace(/\s/g, "").length;
          let from = 0;
          for (let at = 0; at < count; at++) {
            const source = sources.of(at, at + 1);
            assert.ok(source.from >= from && source.to <= odd.length);
            from = source.from;
          }
        }),
        { numRuns: 1000 },
      );
    });

    it("reads texts that patterns could try again and again", () => {
      for (const [piece, text] of slowTexts())
        assert.ok(read(text).phonemes.length < 30 * text.length, piece);
    });

    it("reads a megabyte", () => {
      const sentence = "El 3 de mayo, 21 personas pagaron 12,50 € (p. ej.) en ñandú@correo.es; ¿y qué? ";
      const { phonemes } = read(sentence.repeat(LONG / sentence.length));
      assert.ok(phonemes.length > LONG);
    });
  });
}
