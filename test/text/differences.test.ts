import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DIFFERENCE_IDS, type DifferenceId } from "../../src/text/differences.ts";
import { createPhonemizer } from "../../src/text/phonemes/phonemizer.ts";
import { openNet, tables } from "./voice.ts";

const { net, close } = await openNet();
after(close);

const reference = createPhonemizer(tables, net, { readings: "reference" });
const improved = createPhonemizer(tables, net);

/** For each difference a text on which it shows, and its phonemes without and with it, sentence by sentence. */
const EXAMPLES: Readonly<
  Record<DifferenceId, { text: string; before: readonly string[]; better: readonly string[] }>
> = {
  "kinds-in-words": {
    text: "King Charles paid €1.5bn on 3/8.",
    before: ["kˈɪŋ ðə zˌɪɹOθʧˈɑɹlz pˈAd wˈʌn fˈIv bˌiˈɛn ˌɔn θɹˈi ˈAt."],
    better: ["kˈɪŋ ʧˈɑɹlz pˈAd wˈʌn pYnt fˈIv bˈɪljən jˈʊɹOz ˌɔn mˈɑɹʧ ˈAθ."],
  },
  "quotes-are-marks": {
    text: 'She said "hello" again.',
    before: ["ʃˌi sˈɛd hˈɛlO əɡˈɛn."],
    better: ["ʃˌi sˈɛd “həlˈO” əɡˈɛn."],
  },
  "abbreviation-inside-sentence": {
    text: "See vol. 3, Tom vs. Bob.",
    before: ["sˈi vˈɑljˌum.", "θɹˈi, tˈɑm vˈɜɹsəs.", "bˈɑb."],
    better: ["sˈi vˈɑljˌum θɹˈi, tˈɑm vˈɜɹsəs bˈɑb."],
  },
  "closing-marks-kept": {
    text: "(Yes.) No.",
    before: ["(jˈɛs.", "nˈO."],
    better: ["(jˈɛs.)", "nˈO."],
  },
  "accents-looked-up-without": {
    text: "a naïve coöperation",
    before: ["ɐ nIˈiv kˌɑəɹpəɹɹˈAʃən"],
    better: ["ɐ nɑˈiv kOˌɑpəɹˈAʃən"],
  },
  "shouted-words": {
    text: "THE DOGS WALKED HOME",
    before: ["ðə dˌiˌOʤˌiˈɛs dˌʌbᵊljuˌAˌɛlkˌAˌidˈi hˈOm"],
    better: ["ðə dˈɔɡz wˈɔkt hˈOm"],
  },
  "links-are-words": {
    text: "See [this page](page.html).",
    before: ["sˈi θˈɪs pˈAʤ."],
    better: ["sˈi ðɪs pˈAʤ."],
  },
  "codes-are-no-marks": {
    text: "Open file A-12.",
    before: ["ˈOpᵊn fˈIl ˈA””."],
    better: ["ˈOpᵊn fˈIl ˈA twˈɛlv."],
  },
  "signs-said-apart": {
    text: "foo//bar",
    before: ["fˈu slˈæʃslˈæʃ bˈɑɹ"],
    better: ["fˈu slˈæʃ slˈæʃ bˈɑɹ"],
  },
  "long-digits-one-by-one": {
    text: "1234567890123456",
    before: [
      "wˈʌn kwɑdɹˈɪljən tˈu hˈʌndɹəd θˈɜɹTi fˈɔɹ tɹˈɪljən fˈIv hˈʌndɹəd sˈɪksti sˈɛvən bˈɪljən ˈAt hˈʌndɹəd nˈIndi mˈɪljᵊn wˈʌn hˈʌndɹəd twˈɛnti θɹˈi θˈWzᵊnd fˈɔɹ hˈʌndɹəd fˈɪfti sˈɪks",
    ],
    better: ["wˈʌn tˈu θɹˈi fˈɔɹ fˈIv sˈɪks sˈɛvən ˈAt nˈIn zˈɪɹO wˈʌn tˈu θɹˈi fˈɔɹ fˈIv sˈɪks"],
  },
};

for (const id of DIFFERENCE_IDS) {
  const { text, before, better } = EXAMPLES[id];
  test(`"${text}" is read as before without ${id}, and better with it alone and with all`, async () => {
    assert.deepEqual(await reference.phonemes(text), before);
    assert.deepEqual(await createPhonemizer(tables, net, { readings: [id] }).phonemes(text), better);
    assert.deepEqual(await improved.phonemes(text), better);
    assert.notDeepEqual(before, better);
  });
}

test("every difference is in the table once", () => {
  assert.deepEqual([...DIFFERENCE_IDS].sort(), Object.keys(EXAMPLES).sort());
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
