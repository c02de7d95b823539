import { readManner, TRAITS } from "../../src/serving/prepare/read-manner.ts";
import { sentencesQuality } from "../quality.ts";
import type { HowSaid } from "../renderings.ts";
import type { Row } from "../row.ts";
import { heardOf, startWhisper } from "../whisper.ts";

const SENTENCES = 20;
const MAX_ERRORS = { manner: 0.08, speed: 0.12 };

const IN_MANNERS: readonly HowSaid[] = ["", "very "]
  .flatMap((much) => [...TRAITS.keys()].map((trait) => `${much}${trait}`))
  .map((name) => ({ name, manner: readManner(name)!.asked }));
const AT_SPEEDS: readonly HowSaid[] = [0.5, 0.7, 1.25, 1.5, 2].map((rate) => ({ name: `${rate}`, rate }));

/**
 * The first 20 Harvard sentences (160 words: one standard error is about 0.015) in each manner, ordinary and
 * very, and at speeds of 0.5 and 2. Takes a quarter of an hour.
 */
export const manners: Row = {
  id: "manners",
  what: "word error rate and P.808 of speakers 0 and 1 as ever; in each manner, ordinary and very; at speeds",
  goal: "each manner ≤ 0.08, each speed ≤ 0.12",
  isOnlyByName: true,
  async measure({ isQuick, note, python, renderings }) {
    const whisper = await startWhisper(python);
    const meters = await python.start("quality.py");
    try {
      const found: string[] = [];
      let isMet = true;
      const every = [{ name: "plain" }, ...AT_SPEEDS, ...IN_MANNERS].slice(0, isQuick ? 6 : undefined);
      for (const how of every) {
        const limit = how.manner === undefined ? MAX_ERRORS.speed : MAX_ERRORS.manner;
        const shown: string[] = [];
        for (const speaker of ["0", "1"]) {
          const said = await renderings.by(speaker, how, SENTENCES);
          const { errors, words } = await heardOf(whisper, said);
          const { p808 } = await sentencesQuality(meters, said);
          isMet &&= errors <= limit * words;
          shown.push(`${(errors / words).toFixed(3)} ${p808.toFixed(2)}`);
        }
        found.push(`${how.name}: ${shown.join(", ")}`);
        note(found.at(-1)!);
      }
      return { measured: found.join("; "), isMet };
    } finally {
      await Promise.all([whisper.close(), meters.close()]);
    }
  },
};
