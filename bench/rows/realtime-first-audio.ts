import { percentile } from "../load/percentile.ts";
import type { ServerProcess } from "../load/server-process.ts";
import { converse, type Exchange, firstAudiosOf } from "../realtime/exchange.ts";
import { humanTurns, type Turn } from "../realtime/people.ts";
import { withEmbeddedWriter, withScriptedWriter } from "../realtime/realtime-server.ts";
import { seedOf } from "../realtime/seed.ts";
import { SimulatedUser } from "../realtime/simulated-user.ts";
import type { Row } from "../row.ts";

/**
 * Semantic turn detection (medium). A user says cut recordings of people (Debian's Asterisk prompts, 2 to 12
 * s) in pieces of 20 ms, with room noise at −50 dB between, and speaks again 0.3 to 1 s after a reply. From
 * the piece with the last speech, by level, to the first audio: 30 turns; 30 with a chat endpoint that
 * answers at once; 8 with a microphone that sends only speech. `REALTIME_SEED` repeats a run.
 */
export const realtimeFirstAudio: Row = {
  id: "realtime-first-audio",
  what: "realtime session, end of a person's speech to the reply's first audio: embedded writer; a writer that answers at once; the latter with a microphone that sends nothing after speech",
  goal: "p50 ≤ 0.6 s, p90 ≤ 1.0 s; p50 ≤ 0.40 s, p90 ≤ 0.55 s",
  async measure(bench) {
    const turns = await humanTurns(bench);
    const seed = seedOf(bench);
    const count = bench.isQuick ? 8 : 30;
    const embedded = await withEmbeddedWriter((server) => talk(server, turns, { seed, count }));
    bench.note(`embedded writer: ${described(embedded)}`);
    const [scripted, muted] = await withScriptedWriter(
      "That is good to hear. Tell me more about it.",
      async (server) => [
        await talk(server, turns, { seed, count }),
        await talk(server, turns, { seed, count: bench.isQuick ? 3 : 8, isMuted: true }),
      ],
    );
    const [[p50, p90], [own50, own90]] = [quantiles(embedded), quantiles(scripted)];
    return {
      measured: `${described(embedded)}; ${described(scripted)}; ${described(muted)}`,
      isMet: p50 <= 600 && p90 <= 1_000 && own50 <= 400 && own90 <= 550,
    };
  },
};

/** The first turns load what is loaded once. */
const WARM_UP = 2;

async function talk(
  { url, key }: ServerProcess,
  turns: readonly Turn[],
  { seed, count, isMuted = false }: { seed: number; count: number; isMuted?: boolean },
): Promise<readonly Exchange[]> {
  const user = await SimulatedUser.open({ url, key, seed, isMuted });
  try {
    return (await converse(user, turns, { count: WARM_UP + count })).slice(WARM_UP);
  } finally {
    await user.close();
  }
}

function quantiles(exchanges: readonly Exchange[]): readonly [number, number] {
  const times = firstAudiosOf(exchanges);
  if (times.length === 0) return [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  return [percentile(times, 0.5), percentile(times, 0.9)];
}

function described(exchanges: readonly Exchange[]): string {
  const [p50, p90] = quantiles(exchanges);
  const early = exchanges.filter(({ isCutShort }) => isCutShort).length;
  const answered = firstAudiosOf(exchanges).length;
  return `p50 ${p50.toFixed(0)} ms, p90 ${p90.toFixed(0)} ms of ${answered} (${early} answered before their end, ${exchanges.length - answered - early} never)`;
}
