import { join } from "node:path";
import type { LineProgram } from "../line-program.ts";
import type { Rendering } from "../renderings.ts";
import type { Row } from "../row.ts";
import { CACHE } from "../top.ts";
import { type WordErrors, wordErrors } from "../word-errors.ts";

export const words: Row = {
  id: "words",
  what: "word error rate, 60 Harvard sentences, Whisper base: speaker 0, speaker 1",
  goal: "≤ 0.04, ≤ 0.05",
  async measure({ python, renderings }) {
    const whisper = await python.start("transcribe.py", [join(CACHE, "whisper-base")]);
    try {
      const first = await heardOf(whisper, await renderings.by("0"));
      const second = await heardOf(whisper, await renderings.by("1"));
      const shown = ({ errors, words: count }: WordErrors) =>
        `${(errors / count).toFixed(3)} (${errors} of ${count})`;
      return {
        measured: `${shown(first)}, ${shown(second)}`,
        isMet: first.errors <= 0.04 * first.words && second.errors <= 0.05 * second.words,
      };
    } finally {
      await whisper.close();
    }
  },
};

async function heardOf(whisper: LineProgram, renderings: readonly Rendering[]): Promise<WordErrors> {
  let [errors, count] = [0, 0];
  for (const { sentence, path } of renderings) {
    const found = wordErrors(sentence, (await whisper.ask(path)) as string);
    errors += found.errors;
    count += found.words;
  }
  return { errors, words: count };
}
