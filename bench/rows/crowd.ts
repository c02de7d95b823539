import { type CrowdServer, calm, startCrowdServer } from "../crowd/crowd-server.ts";
import { describeTally, startHostile } from "../crowd/hostile.ts";
import type { HostileGroup } from "../crowd/hostile-job.ts";
import { type LoadResult, runLoad } from "../load/load-job.ts";
import { percentile } from "../load/percentile.ts";
import { tenWords } from "../load/service-speed.ts";
import type { Row } from "../row.ts";

/**
 * Phases of 240 requests, as in `eight-clients`. The third key begins 512 requests for the longest text and
 * reply; it repeats refused or ended ones after 250 ms and abandons unread ones after 6 s. No rate limits; a
 * refused or cut request counts as failed.
 */
export const crowd: Row = {
  id: "crowd",
  what:
    "first audio of two keys with 8 clients each, playing in real time: alone; beside a third key that has 512 streams of " +
    "164 s and reads nothing of them; that reads them as fast as it can",
  goal: "beside it p95 ≤ twice that alone, none refused",
  async measure({ isQuick, note }) {
    const server = await startCrowdServer(3);
    try {
      const phases: readonly Phase[] = [
        { name: "alone", reads: null, utterances: [] },
        { name: "beside 512 that are not read", reads: "nothing", utterances: [] },
        { name: "beside 512 that are read", reads: "everything", utterances: [] },
      ];
      // Turn and turn about, because a machine is not equally fast all the time.
      for (let round = 0; round < (isQuick ? 1 : 2); round++) {
        for (const phase of isQuick ? phases.slice(0, 2) : phases) {
          const { utterances, tally } = await heard(server, phase.reads, isQuick);
          phase.utterances.push(...utterances);
          note(`${phase.name}: ${described(utterances)}${tally === null ? "" : `; ${tally}`}`);
        }
      }
      const [alone, unread] = phases.slice(0, 2).map(({ utterances }) => firstAudioOf(utterances));
      const failures = phases.reduce((sum, { utterances }) => sum + failuresOf(utterances), 0);
      return {
        measured: phases
          .filter(({ utterances }) => utterances.length > 0)
          .map(({ name, utterances }) => `${name} ${described(utterances)}`)
          .join("; "),
        isMet: failures === 0 && unread!.p95 <= 2 * alone!.p95,
      };
    } finally {
      await server.stop();
    }
  },
};

interface Phase {
  readonly name: string;
  readonly reads: HostileGroup["reads"] | null;
  readonly utterances: LoadResult[];
}

/** What two keys hear, with or without the third. */
async function heard(server: CrowdServer, reads: HostileGroup["reads"] | null, isQuick: boolean) {
  const [key = "", other = "", third = ""] = server.keys;
  const hostile = reads === null ? null : await startHostile(server.url, [flood(third, reads)]);
  const honest = [key, other].map((each, index) =>
    runLoad({
      ...tenWords(server, 8),
      key: each,
      pace: "real time",
      pauseMs: isQuick ? { start: 1_000, between: 0 } : { start: 3_000, between: 2_000 },
      requests: isQuick ? 8 : 60,
      seed: index + 1,
    }),
  );
  const utterances = (await Promise.all(honest)).flat();
  const tally = hostile === null ? null : describeTally(await hostile.stop());
  await calm(server);
  return { utterances, tally };
}

function flood(key: string, reads: HostileGroup["reads"]): HostileGroup {
  return {
    name: "512 streams",
    key,
    path: "/v1/converse/stream",
    body: { kind: "text", chars: 8_000, maxNewTokens: 2_048 },
    clients: 512,
    sends: "all",
    reads,
    // By then the server has given its place to others, where any waited.
    holdMs: 6_000,
    pauseMs: 250,
  };
}

function firstAudioOf(utterances: readonly LoadResult[]): { readonly p50: number; readonly p95: number } {
  const valuesMs = utterances.flatMap(({ firstAudioMs }) => firstAudioMs ?? []);
  if (valuesMs.length === 0) throw new Error("no request was answered");
  return { p50: percentile(valuesMs, 0.5), p95: percentile(valuesMs, 0.95) };
}

function failuresOf(utterances: readonly LoadResult[]): number {
  return utterances.filter(({ failure, firstAudioMs }) => failure !== null || firstAudioMs === null).length;
}

function described(utterances: readonly LoadResult[]): string {
  const { p50, p95 } = firstAudioOf(utterances);
  const failures = failuresOf(utterances);
  const underruns = utterances.reduce((sum, utterance) => sum + utterance.underruns, 0);
  return (
    `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms of ${utterances.length}` +
    `${failures === 0 ? "" : `, ${failures} failed`}, ${underruns} underruns`
  );
}
