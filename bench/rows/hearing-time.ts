import { talkOf } from "../hearing/long-talk.ts";
import { withRecogniser } from "../hearing/recogniser.ts";
import { median } from "../load/percentile.ts";
import type { Row } from "../row.ts";

/**
 * Harvard sentences cut into clips of one length, no two alike, the recogniser in a thread of its own.
 * Medians of 16.
 */
export const hearingTime: Row = {
  id: "hearing-time",
  what: "a clip of 2, 5, 10, 30 s to its words, in one thread, warm",
  goal: "≤ 0.20, 0.35, 0.65, 1.8 s",
  measure: ({ isQuick, renderings }) =>
    withRecogniser(async (hears) => {
      const runs = isQuick ? 4 : 16;
      const found: string[] = [];
      let isMet = true;
      for (const [lengthS, maxS] of GOALS) {
        const clips = (
          await Promise.all(["0", "1"].map((speaker) => talkOf(renderings, speaker, lengthS, 1 + runs / 2)))
        ).flat();
        const timesS: number[] = [];
        for (const clip of clips) {
          const beganMs = performance.now();
          await hears(clip);
          timesS.push((performance.now() - beganMs) / 1_000);
        }
        // The first two of a length make room for it.
        const warm = timesS.slice(2);
        isMet &&= median(warm) <= maxS;
        found.push(`${median(warm).toFixed(2)} s (worst ${Math.max(...warm).toFixed(2)} s)`);
      }
      return { measured: `${found.join(", ")}; medians of ${runs}`, isMet };
    }),
};

const GOALS = [
  [2, 0.2],
  [5, 0.35],
  [10, 0.65],
  [30, 1.8],
] as const;
