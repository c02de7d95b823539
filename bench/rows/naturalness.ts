import { cosine, sentencesQuality } from "../quality.ts";
import type { Row } from "../row.ts";

export const naturalness: Row = {
  id: "naturalness",
  what: "P.808 (speechmos): speaker 0, speaker 1; cosine between them (resemblyzer)",
  goal: "≥ 4.2, ≥ 4.3; ≤ 0.70",
  async measure({ python, renderings }) {
    const meters = await python.start("quality.py");
    try {
      const first = await sentencesQuality(meters, await renderings.by("0"));
      const second = await sentencesQuality(meters, await renderings.by("1"));
      const alike = cosine(first, second);
      return {
        measured: `${first.p808.toFixed(2)}, ${second.p808.toFixed(2)}; ${alike.toFixed(2)}`,
        isMet: first.p808 >= 4.2 && second.p808 >= 4.3 && alike <= 0.7,
      };
    } finally {
      await meters.close();
    }
  },
};
