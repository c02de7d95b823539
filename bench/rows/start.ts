import { median } from "../load/percentile.ts";
import { startServerProcess } from "../load/server-process.ts";
import type { Row } from "../row.ts";
import { TOP } from "../top.ts";

/** Includes npm and its check for changed sources. Median of five. */
export const start: Row = {
  id: "start",
  what: "`npm start` to listening, installed and built",
  goal: "≤ 3 s",
  async measure({ isQuick }) {
    const timesMs: number[] = [];
    for (let run = 0; run < (isQuick ? 2 : 5); run++) {
      const server = await startServerProcess({
        serve: {
          command: process.platform === "win32" ? "npm.cmd" : "npm",
          args: ["start", "--", "--no-pull"],
          cwd: TOP,
          isWrapper: true,
        },
      });
      timesMs.push(server.startMs);
      await server.stop();
    }
    const middleS = median(timesMs) / 1_000;
    return {
      measured: `${middleS.toFixed(2)} s (median of ${timesMs.length}, worst ${(Math.max(...timesMs) / 1_000).toFixed(2)} s)`,
      isMet: middleS <= 3,
    };
  },
};
