import { KOKORO_VOICES } from "../../src/models/kokoro-voices.ts";
import { kokoroRenderings } from "../installed-kokoro.ts";
import type { Row } from "../row.ts";
import { heardOf, startWhisper } from "../whisper.ts";

/** A whole Harvard list of two. */
const SENTENCES = 20;
const MAX_WRONG = 0.05;

/**
 * At temperature 0, British voices in British English, word errors as in `words`. 160 words a voice: one
 * standard error is about 0.014.
 */
export const kokoroWords: Row = {
  id: "kokoro-words",
  what: `word error rate, ${SENTENCES} Harvard sentences, Whisper base: Kokoro's 28 English voices, mean and worst`,
  goal: `mean ≤ ${MAX_WRONG}`,
  isOnlyByName: true,
  async measure({ python, note, isQuick }) {
    const english = KOKORO_VOICES.filter(({ language }) => language?.startsWith("en-"));
    const ids = english.map(({ id }) => id).filter((_, at) => !isQuick || at % 9 === 0);
    const renderings = await kokoroRenderings(SENTENCES, note, ids);
    const whisper = await startWhisper(python);
    try {
      const rates: { readonly id: string; readonly rate: number }[] = [];
      for (const id of ids) {
        const { errors, words } = await heardOf(whisper, await renderings.by(id));
        rates.push({ id, rate: errors / words });
        note(`${id}: ${errors} of ${words}`);
      }
      const mean = rates.reduce((sum, { rate }) => sum + rate, 0) / rates.length;
      const worst = rates.reduce((most, each) => (each.rate > most.rate ? each : most));
      return {
        measured: `${mean.toFixed(3)}; ${worst.rate.toFixed(3)} (${worst.id}); ${rates.filter(({ rate }) => rate <= MAX_WRONG).length} of ${rates.length} at most ${MAX_WRONG}`,
        isMet: mean <= MAX_WRONG,
      };
    } finally {
      await whisper.close();
      await renderings.remove();
    }
  },
};
