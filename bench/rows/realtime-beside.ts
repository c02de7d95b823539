import { runLoad } from "../load/load-job.ts";
import { percentile } from "../load/percentile.ts";
import type { ServerProcess } from "../load/server-process.ts";
import { tenWords } from "../load/service-speed.ts";
import { converse } from "../realtime/exchange.ts";
import { humanTurns } from "../realtime/people.ts";
import { withEmbeddedWriter } from "../realtime/realtime-server.ts";
import { seedOf } from "../realtime/seed.ts";
import { SimulatedUser } from "../realtime/simulated-user.ts";
import type { Row } from "../row.ts";

const SESSIONS = 4;

/** Two clients play the ten words of `first-audio` in real time for 60 s, alone and beside four users. */
export const realtimeBeside: Row = {
  id: "realtime-beside",
  what: "first audio of two clients who play streams in real time, p95: alone; beside four realtime sessions that talk",
  goal: "≤ twice that alone",
  async measure(bench) {
    const turns = await humanTurns(bench);
    const seed = seedOf(bench);
    const phaseMs = bench.isQuick ? 15_000 : 60_000;
    return withEmbeddedWriter(async (server) => {
      const { url, key } = server;
      const alone = await streams(server, phaseMs);
      const users = await Promise.all(
        Array.from({ length: SESSIONS }, (_, at) => SimulatedUser.open({ url, key, seed: seed + at })),
      );
      const talks = users.map((user) => converse(user, turns, { untilMs: performance.now() + phaseMs }));
      const beside = await streams(server, phaseMs);
      const talked = (await Promise.all(talks)).flat().length;
      await Promise.all(users.map((user) => user.close()));
      const [plain, busy] = [percentile(alone, 0.95), percentile(beside, 0.95)];
      return {
        measured: `${plain.toFixed(0)} ms of ${alone.length}; ${busy.toFixed(0)} ms of ${beside.length} (${(busy / plain).toFixed(1)} times), beside ${talked} turns`,
        isMet: busy <= 2 * plain,
      };
    });
  },
};

async function streams(server: ServerProcess, durationMs: number): Promise<readonly number[]> {
  const utterances = await runLoad({
    ...tenWords(server, 2),
    pace: "real time",
    pauseMs: { start: 1_000, between: 500 },
    durationMs,
  });
  return utterances.flatMap(({ firstAudioMs }) => firstAudioMs ?? []);
}
