import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { createPhonemizer } from "../../src/text/phonemes/phonemizer.ts";
import { SentenceCutter } from "../../src/text/sentences/sentence-cutter.ts";
import { TOP } from "../architecture/top.ts";
import { judge, readRows } from "./score-readings.ts";
import { openNet, tables } from "./voice.ts";

const { net, close } = await openNet();
after(close);
const phonemizer = createPhonemizer(tables, net);

test("every text that users of other servers saw misread sounds like one of its spoken forms", async () => {
  for (const name of ["readings", "lookalikes"]) {
    const rows = readRows(join(TOP, `test/golden/field/${name}.jsonl`));
    for (const row of rows) assert.equal((await judge(phonemizer, row)).fault, "", row.text);
  }
});

/** By class: the rule beyond the golden rows, and what looks alike but is something else. */
const SAME_AS: Readonly<Record<string, readonly (readonly [text: string, words: string])[]>> = {
  "a decimal comma is a point, but thousands and lists stay": [
    ["1.234,5 kg, 0,333 l and 3,7%", "1234.5 kg, 0.333 l and 3.7%"],
    ["18,5-21,5 °C", "18.5 to 21.5 degrees Celsius"],
    [
      "12,345 kg and 1,234",
      "twelve thousand three hundred forty-five kilograms and one thousand two hundred thirty-four",
    ],
    ["pages 1,2 or (2,3) and 1,2,3", "pages 1, 2 or (2, 3) and 1, 2, 3"],
  ],
  "reference marks are silent after punctuation, but an index is read": [
    ["Blue.[note 1] So.【3:1†source】 Yes.", "Blue. So. Yes."],
    ["items[0] is known[12].", "items 0 is known 12."],
    ["5 m² and x²", "five square meters and X squared"],
  ],
  "units are composed of prefix, unit, power and rate": [
    [
      "4 pCi/L, 500 µS/cm, 5 ng/mL",
      "four picocuries per liter, 500 microsiemens per centimeter, 5 nanograms per milliliter",
    ],
    ["9.8 m/s² at 5-10 km/h", "9.8 meters per second squared at five to ten kilometers per hour"],
    ["price per m², dose in µg/kg", "price per square meter, dose in micrograms per kilogram"],
    ["every 8 h, 500 lx, 1013 mbar", "every eight hours, 500 lux, one thousand thirteen millibars"],
    ["300 W Main St, a 3 d printer, A/C, W/L", "300 West Main Street, a 3 D printer, A C, W L"],
  ],
  "lengthened words and chat words are words": [
    ["SOOOO sweeeet, let's gooo!", "so sweet, let's go!"],
    ["btw idk, omg", "by the way I don't know, oh my god"],
    ["Shhhh, brrrrr, zzzzz", "shh, brr, zzz"],
    ["Louis XVIII", "Louis the eighteenth"],
  ],
  "Roman numerals follow a word that is numbered": [
    ["pp. ix–xii, Vol. IV, § 2(iv)", "pages nine to twelve, volume four, section 2 four"],
    ["Chapters II, III and Ⅳ", "chapters two, three and four"],
    [
      "the XX and XXI centuries, Amendment XIV",
      "the twentieth and twenty-first centuries, amendment fourteen",
    ],
    ["a vivid mix, mild. The part i like.", "a vivid mix, mild. The part eye like."],
    ["Michael I was there. The page I saw.", "Michael eye was there. The page eye saw."],
  ],
  "a word divided at a line's end is one word": [
    ["The conver-\nsations", "The conversations"],
    ["a well-\nknown man", "a well-known man"],
    ["blorp-\nify", "blorpify"],
  ],
  "divider lines are silent": [
    ["Title\n=====\n#####\n<<<<<<< HEAD", "Title\nHEAD"],
    ["Use == now. x === y", "Use double equals now. x triple equals y"],
  ],
  "sums, clipped words, names of fields, figures and moves are read out": [
    ["1e-9 and 2.5e8", "one times ten to the minus nine and two point five times ten to the eighth"],
    ["\\frac{x}{c} \\leq \\sqrt{2}", "X over C less than or equal to square root of 2"],
    ["th' man's movin'. 'Robin' said.", "the man's moving. 'Robin' said."],
    ["user_id, figs. 2a–c, Qxd7#", "user I D, figures two eh to C, queen takes D seven checkmate"],
  ],
};
for (const [claim, pairs] of Object.entries(SAME_AS)) {
  test(claim, async () => {
    for (const [text, words] of pairs) {
      const row = { id: text, kind: claim, text, says: [words] };
      const { read, fault } = await judge(phonemizer, row);
      assert.equal(fault, "", `${text} | ${read.join(" | ")}`);
      assert.equal(read.length, (await phonemizer.phonemes(words)).length, text);
    }
  });
}

test("a divided word that arrives in pieces is not cut", () => {
  const cutter = new SentenceCutter();
  const cut = ["A conver-", "\n", "sation.[1] Then", " it ended."].flatMap((piece) => cutter.push(piece));
  assert.deepEqual([...cut, cutter.flush()], ["A conver-\nsation.[1]", "Then it ended."]);
});
