import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { plainText } from "../../../src/writers/gate/plain-text.ts";
import fc from "../../properties.ts";

const HIDDEN: Readonly<Record<string, string>> = {
  "Cyrillic letters in a word": "I want to k\u0456ll my\u0455elf",
  "Cyrillic letters wherever there are any":
    "\u0406 w\u0430nt t\u043e \u043a\u0456\u04cf\u04cf \u043c\u0443\u0455\u0435\u04cff",
  "Cyrillic letters that are only a little like": "I wa\u043ft to \u043a\u0456ll \u043cyself",
  "Greek letters": "I w\u03b1nt t\u03bf \u03ba\u03b9ll mys\u03b5lf",
  "Armenian and Cherokee letters": "I wa\u0578t t\u0585 \u13e6\u13a5ll myself",
  "Lisu letters": "I want to \ua4d7\ua4f2\ua4e1\ua4e1 \ua4df\ua4ec\ua4e2\ua4f0\ua4e1\ua4dd",
  "Coptic letters": "I want to \u2c95\u2c93\u2c97\u2c97 myself",
  "small Cherokee letters": "I want to \uabb6\uab75\uabae\uabae myself",
  "Canadian syllables": "I want to KI\u14aa\u14aa \u15f0Y\u1515E\u14aa\u15b4",
  "signs for letters": "I want to k!ll my$elf",
  "figures for letters": "I w4nt t0 k1ll mys3lf",
  "figures for letters, in capitals": "I W4NT T0 K1LL MYS3LF",
  "figures and other letters at once": "I wa\u0578t t0 \u043a1ll my5elf",
  "letters of full width": "\uff29 want to \uff4b\uff49\uff4c\uff4c myself",
  "mathematical letters": "I want to \u{1d424}\u{1d422}\u{1d425}\u{1d425} \u{1d4c2}\u{1d4ce}self",
  "letters in circles and boxes": "I want to \u24da\u24d8\u24db\u24db \u{1f17c}\u{1f188}\u{1f182}elf",
  "white on black, and for flags":
    "I want to \u{1f15a}\u{1f158}\u{1f15b}\u{1f15b} \u{1f1f2}\u{1f1fe}\u{1f1f8}\u{1f1ea}\u{1f1f1}\u{1f1eb}",
  "small capitals": "I want to \u1d0b\u026a\u029f\u029f myself",
  "barred and dotless letters": "I want to k\u0131\u0142\u0142 myself",
  "invisible characters": "I w\u200bant t\u00ado k\u2060i\u200dll\ufe0f my\u034fse\u180elf\u{e0041}",
  "fillers that look like nothing": "I want to k\u3164il\u115fl myself\uffa0",
  "marks above, below and through":
    "I want to k\u0336i\u0336l\u0336l\u0336 m\u0353\u0329\u0359y\u033a\u0352\u0303self",
  "spaces of every kind": "I\u00a0want\u2003to\u3000kill\u2028myself",
};
describe("plainText", () => {
  for (const [how, written] of Object.entries(HIDDEN))
    it(`reads words hidden with ${how} as they look`, () => {
      assert.equal(plainText(written).toLowerCase(), "i want to kill myself");
    });

  it("leaves other languages as they are", () => {
    for (const text of [
      "Я хочу пить чай с мёдом. Он сам не ест рис, а Сара ест.",
      "Ще не вмерла України",
      "Ово је мој дом",
      "Θέλω έναν καφέ και το νερό.",
      "Καλημέρα, τι κάνεις;",
      "Ça va très bien, señor Müller? Łódź i gdańsk.",
      "Dzień dobry",
      "Chúc một ngày tốt lành",
      "मैं ठीक हूँ",
      "مرحبا كيف حالك",
      "שלום",
      "日本語で話そう。がんばって",
      "안녕하세요",
      "สวัสดีครับ",
      "Բարեւ ձեզ",
      "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
      "ꓡꓲ-ꓢꓴ ꓫꓵꓽ ꓥꓳ",
      "ⲧⲙⲛⲧⲣⲙⲛⲕⲏⲙⲉ ⲫϯ",
      "ᐃᓄᒃᑎᑐᑦ ᓇᓄᖅ",
      "The Greek word φίλος and the Russian word друг",
    ])
      assert.equal(plainText(text), text.normalize("NFKC"));
  });

  it("leaves English as it is", () => {
    for (const text of [
      "I don't know, really - 5% of $3 is what?",
      "café naïve Zoë",
      "x² is fine".normalize("NFKC"),
      "B2B, mp3, R2-D2, 24/7, $5, H2O, 4K, B12, 3D, the 1st, 5pm, 10km and Y2K",
      "Log me on at k1ll@example.org or example.org/k1ll_me",
      "I met C3PO at SW1A on an iPhone5s with two mp3s, COVID19 and Windows11",
      "Stop!don't go. Wow!!! It's 50% off @home, Ke$ 5",
      "He's w8ing, gr8, and has k8s and i18n",
    ])
      assert.equal(plainText(text), text);
  });

  it("is idempotent", () => {
    const letters = fc.constantFrom(..."ak01$!lіаοιк\u0336\u200b\ufe0fŁłßǆﬁ½ \u3164ᄀ가\u{1f1fa}\u{1f170}é");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary", maxLength: 60 }),
          fc.array(letters, { maxLength: 20 }).map((all) => all.join("")),
        ),
        (text) => {
          const plain = plainText(text);
          assert.equal(plainText(plain), plain);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("normalises quotes, spaces and invisible characters", () => {
    assert.equal(plainText("  I don\u2019t\twant  to \n"), "I don't want to");
    assert.equal(plainText("\uff49 want\u200b to d\u00adie"), "i want to die");
    assert.equal(plainText("\u{1d422} \u{1d430}\u{1d41a}\u{1d427}\u{1d42d}"), "i want");
    assert.equal(plainText("\u2028\u0000"), "");
  });

  it("makes one line of whole characters of any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
        const plain = plainText(`${text}\ud800`);
        assert.ok(plain.isWellFormed());
        assert.doesNotMatch(plain, /^ | $|[\n\r\t]| {2}/);
      }),
    );
  });
});
