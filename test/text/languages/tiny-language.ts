import type { Language, PhonemeUnit } from "../../../src/text/languages/language.ts";

/** A language that reads letters as they are, with digits as "na", and asks yes-no questions alone. */
export const TINY: Language = {
  tag: "es",
  sentences: {
    continues: (paragraph, mark) => paragraph.slice(0, mark).endsWith("tit"),
  },
  alphabet: { symbols: new Set("abdeiknotˈñ "), spellings: [["rr", "n"]] },
  normalise: (sentence) => sentence.replace(/\d+/g, "na"),
  units(sentence, { english, given }) {
    const units: PhonemeUnit[] = [];
    for (const { 0: text, index } of sentence.matchAll(/[\p{L}\ue000-\uf8ff]+|\s+|[^\p{L}\s]/gu)) {
      const phonemes = given(text) ?? english(text) ?? (text.trim() === "" ? " " : text.toLowerCase());
      units.push({ phonemes, from: index, to: index + text.length });
    }
    return units;
  },
  question: () => "yes-no",
  choiceAt: () => -1,
};
