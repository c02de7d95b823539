import { percentile } from "../load/percentile.ts";
import type { ServerProcess } from "../load/server-process.ts";
import { converse, firstAudiosOf } from "../realtime/exchange.ts";
import { humanTurns, type Turn } from "../realtime/people.ts";
import { withEmbeddedWriter } from "../realtime/realtime-server.ts";
import { seedOf } from "../realtime/seed.ts";
import { SimulatedUser } from "../realtime/simulated-user.ts";
import { processorMs } from "../resident.ts";
import type { Row } from "../row.ts";

const GOAL_MS = 1_500;

/**
 * 2, 4, 6 and 8 users as in `realtime-first-audio` for 75 s each, until there is an underrun or first audio
 * has a p90 above 1.5 s.
 */
export const realtimeSessions: Row = {
  id: "realtime-sessions",
  what: "realtime sessions at once, all talking in turns with the embedded writer, without an underrun and with a p90 of first audio of at most 1.5 s; processor time of the server per turn",
  goal: "≥ 10; ≤ 0.9 s",
  async measure(bench) {
    const turns = await humanTurns(bench);
    const seed = seedOf(bench);
    return withEmbeddedWriter(async (server) => {
      const told: string[] = [];
      let most = 0;
      for (const count of [1, 4, 7, 10, 12]) {
        const begunMs = processorMs(server.pid);
        const { p90, underruns, answered, asked } = await talkAll(server, turns, {
          count,
          seed,
          durationMs: bench.isQuick ? 25_000 : 75_000,
        });
        const turnMs = (processorMs(server.pid) - begunMs) / asked;
        told.push(
          `${count}: p90 ${p90.toFixed(0)} ms of ${answered} (${asked} turns), ${underruns} underruns, ${turnMs.toFixed(0)} ms a turn`,
        );
        bench.note(told.at(-1)!);
        if (underruns > 0 || p90 > GOAL_MS) break;
        most = count;
      }
      return { measured: `${most}; ${told.join("; ")}`, isMet: most >= 10 };
    });
  },
};

async function talkAll(
  { url, key }: ServerProcess,
  turns: readonly Turn[],
  { count, seed, durationMs }: { count: number; seed: number; durationMs: number },
): Promise<{ p90: number; underruns: number; answered: number; asked: number }> {
  const users = await Promise.all(
    Array.from({ length: count }, (_, at) => SimulatedUser.open({ url, key, seed: seed + at })),
  );
  try {
    const untilMs = performance.now() + durationMs;
    const exchanges = (await Promise.all(users.map((user) => converse(user, turns, { untilMs })))).flat();
    const times = firstAudiosOf(exchanges);
    return {
      p90: times.length === 0 ? Number.POSITIVE_INFINITY : percentile(times, 0.9),
      underruns: exchanges.reduce((sum, { underruns }) => sum + underruns, 0),
      answered: times.length,
      asked: exchanges.length,
    };
  } finally {
    await Promise.all(users.map((user) => user.close()));
  }
}
