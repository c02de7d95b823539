import { setTimeout as sleep } from "node:timers/promises";
import { type HealthTimes, healthDuring } from "../health-watch.ts";
import { type LoadResult, runLoad } from "../load/load-job.ts";
import { percentile } from "../load/percentile.ts";
import { tenWords } from "../load/service-speed.ts";
import type { Row } from "../row.ts";
import { startTold, type ToldProcess } from "../told-process.ts";
import type { FloodJob, FloodTally } from "../wyoming/flood-job.ts";
import { startWyomingServer, type WyomingServer } from "../wyoming/wyoming-server.ts";

/**
 * `describe` events as fast as possible over one or 64 connections, for 30 s after one second; `GET /health`
 * again 10 ms after each answer, and one client of `first-audio`.
 */
export const wyomingFlood: Row = {
  id: "wyoming-flood",
  what:
    "`GET /health` and first audio of an HTTP stream beside connections of the Wyoming protocol that ask `describe` as fast " +
    "as they can, and read the answers or not: alone; beside 1; beside 64",
  goal: "/health p99 ≤ 50 ms",
  async measure({ isQuick, note }) {
    const found: Found[] = [];
    for (const phase of PHASES) {
      // Each has a server of its own: one may have much to do when the clients of another phase have gone.
      const server = await startWyomingServer();
      try {
        const one = await besideFlood(server, phase, isQuick ? 4_000 : 30_000);
        found.push(one);
        note(`${phase.name}: ${described(one)}${one.flood}`);
      } finally {
        await server.stop();
      }
    }
    return {
      measured: found.map((one, at) => `${PHASES[at]!.name} ${described(one)}`).join("; "),
      isMet: found.every(({ health, failures }) => health.p99 <= 50 && failures === 0),
    };
  },
};

interface Phase {
  readonly name: string;
  readonly connections: number;
  readonly reads: boolean;
}

const PHASES: readonly Phase[] = [
  { name: "alone", connections: 0, reads: true },
  { name: "1 that reads", connections: 1, reads: true },
  { name: "1 that does not", connections: 1, reads: false },
  { name: "64 that read", connections: 64, reads: true },
  { name: "64 that do not", connections: 64, reads: false },
];

interface Found {
  readonly health: HealthTimes;
  /** p50, in milliseconds; null where none came. */
  readonly firstAudioMs: number | null;
  /** Streams that began to sound, and those that were refused or broke. */
  readonly streams: number;
  readonly failures: number;
  /** What the clients did, for a note. */
  readonly flood: string;
}

async function besideFlood(server: WyomingServer, phase: Phase, durationMs: number): Promise<Found> {
  const { connections, reads } = phase;
  const flood = connections === 0 ? null : await startFlood({ ...server.wyoming, connections, reads });
  try {
    // What the system holds of what is not read is full by then.
    await sleep(1_000);
    const pauseMs = { start: 0, between: 200 };
    const streams = runLoad({ ...tenWords(server, 1), pauseMs, durationMs });
    const { result, health } = await healthDuring(server.url, streams);
    const sounded = result.flatMap(({ firstAudioMs }) => firstAudioMs ?? []);
    return {
      health,
      firstAudioMs: sounded.length === 0 ? null : percentile(sounded, 0.5),
      streams: sounded.length,
      failures: failuresOf(result),
      flood: await toldOf(flood),
    };
  } catch (error) {
    await flood?.stop();
    throw error;
  }
}

function startFlood(job: FloodJob): Promise<ToldProcess<FloodTally>> {
  return startTold(new URL("../wyoming/flood-program.js", import.meta.url), job);
}

async function toldOf(flood: ToldProcess<FloodTally> | null): Promise<string> {
  if (flood === null) return "";
  const { events, answerBytes, ended } = await flood.stop();
  return ` (${events} events written, ${(answerBytes / 2 ** 20).toFixed(0)} MiB of answers read, ${ended} connections ended)`;
}

/** The last one is cut off at the end of a phase. */
function failuresOf(utterances: readonly LoadResult[]): number {
  return utterances.slice(0, -1).filter(({ failure }) => failure !== null).length;
}

function described({ health, firstAudioMs, streams, failures }: Found): string {
  const audio =
    firstAudioMs === null ? "no audio" : `first audio p50 ${firstAudioMs.toFixed(0)} ms of ${streams}`;
  return (
    `/health p50 ${health.p50.toFixed(1)} ms, p99 ${health.p99.toFixed(0)} ms of ${health.looks}, ` +
    `${audio}${failures === 0 ? "" : `, ${failures} failed`}`
  );
}
