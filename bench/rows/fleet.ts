import { firstAudioMs } from "../first-audio-ms.ts";
import { type Fleet, startFleet } from "../fleet/fleet.ts";
import { runLoad } from "../load/load-job.ts";
import { oneClient, tenWords } from "../load/service-speed.ts";
import type { Row } from "../row.ts";

/**
 * Two `antiphon serve` over one PostgreSQL and one Valkey behind HAProxy (`deploy/haproxy/haproxy.cfg`), and
 * one of them asked directly. Median of three rounds.
 */
export const fleetFirstAudio: Row = {
  id: "fleet",
  what: "first audio p95 of 8 clients who read as fast as they can: two servers with PostgreSQL and Valkey behind HAProxy; one of them asked directly; their ratio",
  goal: "ratio ≤ 1.5",
  measure: ({ isQuick }) =>
    withFleet(async ({ balancer, servers: [server] }) => {
      for (const each of [balancer, server!]) await oneClient({ ...server!, ...each }, 10);
      const requests = isQuick ? 80 : 400;
      const rounds: { through: number; direct: number }[] = [];
      // By turns, so that what else the machine does falls on both alike.
      for (let round = 0; round < (isQuick ? 1 : 3); round++) {
        const through = firstAudioMs(
          await runLoad({ ...tenWords({ ...server!, ...balancer }, 8), requests }),
        );
        const direct = firstAudioMs(await runLoad({ ...tenWords(server!, 8), requests }));
        rounds.push({ through: through.p95, direct: direct.p95 });
      }
      const best = rounds.toSorted((a, b) => a.through / a.direct - b.through / b.direct);
      const { through, direct } = best[Math.floor(best.length / 2)]!;
      const ratio = through / direct;
      return {
        measured: `${through.toFixed(0)} ms; ${direct.toFixed(0)} ms; ${ratio.toFixed(2)}`,
        isMet: ratio <= 1.5,
      };
    }),
};

/**
 * One server after the other is stopped (draining for 3 s) and started again. A request without an end
 * counts as failed.
 */
export const fleetRestart: Row = {
  id: "fleet-restart",
  what: "requests that fail while both of these servers are restarted, one after the other, under 8 clients; how many there were",
  goal: "0",
  measure: () =>
    withFleet(async ({ balancer, servers, restart }) => {
      let isOver = false;
      const load = runLoad({
        ...tenWords({ ...servers[0]!, ...balancer }, 8),
        pace: "real time",
        pauseMs: { start: 500, between: 200 },
        durationMs: RESTARTS_MS,
      }).finally(() => {
        isOver = true;
      });
      await restart(0);
      await restart(1);
      if (isOver) throw new Error(`two restarts took longer than the load's ${RESTARTS_MS / 1_000} s`);
      const utterances = await load;
      const failures = utterances.flatMap(({ failure }) => failure ?? []);
      if (failures.length > 0) process.stderr.write(`  ${[...new Set(failures)].join("; ")}\n`);
      return { measured: `${failures.length} of ${utterances.length}`, isMet: failures.length === 0 };
    }),
};

/** Longer than two servers take to drain, to finish what is listened to, and to start. */
const RESTARTS_MS = 90_000;

async function withFleet<T>(measure: (fleet: Fleet) => Promise<T>): Promise<T> {
  const fleet = await startFleet();
  try {
    return await measure(fleet);
  } finally {
    await fleet.stop();
  }
}
