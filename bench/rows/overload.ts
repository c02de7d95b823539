import { limitCpu } from "../load/limit-cpu.ts";
import { type LoadResult, runLoad } from "../load/load-job.ts";
import { percentile } from "../load/percentile.ts";
import { type ServerProcess, startServerProcess } from "../load/server-process.ts";
import { oneClient, tenWords } from "../load/service-speed.ts";
import type { Row } from "../row.ts";

const CORES = 0.3;
const RATES_PER_S: readonly number[] = [8, 16];

/**
 * Ten-word sentences arrive at random times, more than the server's share of a core can speak, and are played in real
 * time with 200 ms in hand. Every request must be played without a gap or refused with a status.
 */
export const overload: Row = {
  id: "overload",
  what: `open-loop load at ${CORES} of a core: refusals, gaps, first audio`,
  goal: "no gap, no broken reply; p95 of first audio ≤ 400 ms; refusals ≤ 1 s",
  async measure({ isQuick, note }) {
    const found: Overloaded[] = [];
    for (const ratePerS of RATES_PER_S) {
      const each = await overloaded(ratePerS, isQuick ? 10_000 : 20_000);
      note(each.said);
      found.push(each);
    }
    return { measured: found.map(({ said }) => said).join("; "), isMet: found.every(({ isMet }) => isMet) };
  },
};

interface Overloaded {
  readonly said: string;
  readonly isMet: boolean;
}

async function overloaded(ratePerS: number, durationMs: number): Promise<Overloaded> {
  const server = await startServerProcess();
  let limit: Awaited<ReturnType<typeof limitCpu>> | null = null;
  try {
    await oneClient(server, 10);
    limit = await limitCpu(server.pid, CORES);
    return summaryOf(ratePerS, await openLoop(server, ratePerS, durationMs));
  } finally {
    await server.stop();
    await limit?.remove();
  }
}

function openLoop(server: ServerProcess, ratePerS: number, durationMs: number) {
  const requests = Math.round((ratePerS * durationMs) / 1_000);
  return runLoad({ ...tenWords(server, 0), pace: "real time", ratePerS, requests, seed: ratePerS });
}

function summaryOf(ratePerS: number, replies: readonly LoadResult[]): Overloaded {
  const spoken = replies.filter(({ failure, firstAudioMs }) => failure === null && firstAudioMs !== null);
  const refused = replies.filter(({ failure }) => failure?.startsWith("status") === true);
  const broken = replies.length - spoken.length - refused.length;
  const gaps = spoken.filter(({ underruns }) => underruns > 0).length;
  const p95Ms = percentile(
    spoken.map(({ firstAudioMs }) => firstAudioMs ?? 0),
    0.95,
  );
  const refusedMs = Math.max(0, ...refused.map(({ totalMs }) => totalMs ?? 0));
  return {
    said:
      `${ratePerS}/s: ${spoken.length} of ${replies.length} spoken, ${gaps} with gaps, ${refused.length} refused within ` +
      `${refusedMs.toFixed(0)} ms, ${broken} broken, first audio p95 ${p95Ms.toFixed(0)} ms`,
    isMet: gaps === 0 && broken === 0 && p95Ms <= 400 && refusedMs <= 1_000,
  };
}
