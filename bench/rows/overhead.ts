import { join } from "node:path";
import { type LoadJob, runLoad } from "../load/load-job.ts";
import { percentile } from "../load/percentile.ts";
import { startServerProcess } from "../load/server-process.ts";
import type { Row } from "../row.ts";
import { TOP } from "../top.ts";

/**
 * Whole `/v1/tts` requests of two letters, including the commit to the database: 3,000 after 2,000 for
 * warming up.
 */
export const overhead: Row = {
  id: "overhead",
  what: "service overhead: a request whose engine returns at once",
  goal: "p95 ≤ 2 ms",
  async measure({ isQuick }) {
    const server = await startServerProcess({
      serve: {
        command: process.execPath,
        args: [join(TOP, "dist", "bench", "tone-server.js")],
        cwd: TOP,
        isWrapper: false,
      },
    });
    try {
      const job: LoadJob = {
        url: server.url,
        key: server.key,
        path: "/v1/tts",
        bodies: [JSON.stringify({ text: "Hi." })],
        clients: 1,
        pace: "at once",
        pauseMs: { start: 0, between: 0 },
        seed: 1,
      };
      await runLoad({ ...job, requests: isQuick ? 300 : 2_000 });
      const replies = await runLoad({ ...job, requests: isQuick ? 300 : 3_000 });
      const totalMs = replies.map((reply) => {
        if (reply.failure !== null || reply.totalMs === null) {
          throw new Error(`a request failed: ${reply.failure ?? "no reply came"}`);
        }
        return reply.totalMs;
      });
      const [p50, p95] = [percentile(totalMs, 0.5), percentile(totalMs, 0.95)];
      return { measured: `p50 ${p50.toFixed(2)} ms, p95 ${p95.toFixed(2)} ms`, isMet: p95 <= 2 };
    } finally {
      await server.stop();
    }
  },
};
