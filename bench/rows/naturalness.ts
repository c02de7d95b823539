import { EMBEDDED_VOICES } from "../../src/models/public-models.ts";
import { cosine, type Quality, sentencesQuality } from "../quality.ts";
import type { Row } from "../row.ts";

/** P.808 that each has at least, in the order of the cast. */
const MIN_P808 = [4.2, 4.3, 4.15, 4.15, 4.15];
const MAX_COSINE = 0.8;
/** Of the first two, whom conversations have. */
const MAX_FIRST_COSINE = 0.7;

/**
 * The audio of `words`, four sentences a clip, at one level. P.808 was trained on calls and serves to notice
 * a change. Two clips of one person have a GE2E cosine above 0.9.
 */
export const naturalness: Row = {
  id: "naturalness",
  what: "P.808 (speechmos) of the first five of the embedded voice's people; cosine between the first two (resemblyzer), and between the two who are most alike",
  goal: `≥ ${MIN_P808.join(", ")}; ≤ ${MAX_FIRST_COSINE}, ${MAX_COSINE}`,
  async measure({ python, renderings }) {
    const meters = await python.start("quality.py");
    try {
      const people: Quality[] = [];
      for (const { id } of EMBEDDED_VOICES.slice(0, MIN_P808.length))
        people.push(await sentencesQuality(meters, await renderings.by(id)));
      const pairs = people.flatMap((one, at) =>
        people.slice(at + 1).map((other, next) => ({ alike: cosine(one, other), who: [at, at + 1 + next] })),
      );
      const [first] = pairs;
      const most = pairs.reduce((a, b) => (b.alike > a.alike ? b : a));
      const natural = people.map(({ p808 }) => p808);
      return {
        measured: `${natural.map((p808) => p808.toFixed(2)).join(", ")}; ${first!.alike.toFixed(2)}, ${most.alike.toFixed(2)} (${most.who.join(" and ")})`,
        isMet:
          natural.every((p808, at) => p808 >= MIN_P808[at]!) &&
          first!.alike <= MAX_FIRST_COSINE &&
          most.alike <= MAX_COSINE,
      };
    } finally {
      await meters.close();
    }
  },
};
