import { EMBEDDED_VOICES } from "../../src/models/public-models.ts";
import type { Row } from "../row.ts";
import { heardOf, startWhisper } from "../whisper.ts";
import type { WordErrors } from "../word-errors.ts";

/** Share of words wrong that each has at most, in the order of the cast. */
const MAX_WRONG = [0.04, 0.04, 0.05, 0.05, 0.05];

/**
 * Harvard sentences (IEEE, 1969; `bench/harvard.txt`, 465 words: one standard error is about 0.009) at
 * temperature 0, transcribed by Whisper base (int8, beam 5). Compared in lower case, without punctuation,
 * figures spelt out; other spellings are errors.
 */
export const words: Row = {
  id: "words",
  what: "word error rate, 60 Harvard sentences, Whisper base: the first five of the embedded voice's people",
  goal: `≤ ${MAX_WRONG.join(", ")}`,
  async measure({ python, renderings }) {
    const whisper = await startWhisper(python);
    try {
      const found: WordErrors[] = [];
      for (const { id } of EMBEDDED_VOICES.slice(0, MAX_WRONG.length))
        found.push(await heardOf(whisper, await renderings.by(id)));
      const shown = ({ errors, words: count }: WordErrors) =>
        `${(errors / count).toFixed(3)} (${errors} of ${count})`;
      return {
        measured: found.map(shown).join(", "),
        isMet: found.every(({ errors, words: count }, at) => errors <= MAX_WRONG[at]! * count),
      };
    } finally {
      await whisper.close();
    }
  },
};
