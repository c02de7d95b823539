import type { Row } from "../row.ts";
import { heardOf, startWhisper } from "../whisper.ts";
import type { WordErrors } from "../word-errors.ts";

export const words: Row = {
  id: "words",
  what: "word error rate, 60 Harvard sentences, Whisper base: speaker 0, speaker 1",
  goal: "≤ 0.04, ≤ 0.04",
  async measure({ python, renderings }) {
    const whisper = await startWhisper(python);
    try {
      const first = await heardOf(whisper, await renderings.by("0"));
      const second = await heardOf(whisper, await renderings.by("1"));
      const shown = ({ errors, words: count }: WordErrors) =>
        `${(errors / count).toFixed(3)} (${errors} of ${count})`;
      return {
        measured: `${shown(first)}, ${shown(second)}`,
        isMet: first.errors <= 0.04 * first.words && second.errors <= 0.04 * second.words,
      };
    } finally {
      await whisper.close();
    }
  },
};
