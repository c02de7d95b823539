import type { LoadJob, Utterance } from "./load-job.ts";
import { runLoad } from "./load-process.ts";
import type { ServerProcess } from "./server-process.ts";
import { converseBody, TEN_WORDS, TURNS } from "./texts.ts";

/** One client after ten requests to warm up: ten words a request, each stream read to its end as fast as it comes. */
export async function oneClient(server: ServerProcess, requests: number): Promise<readonly Utterance[]> {
  await runLoad({ ...tenWords(server, 1), requests: 10 });
  return runLoad({ ...tenWords(server, 1), requests });
}

/** Ten words a request, over and over, read as fast as they come. */
export function tenWords(server: ServerProcess, clients: number): LoadJob {
  return {
    url: server.url,
    key: server.key,
    path: "/v1/converse/stream",
    bodies: TEN_WORDS.map(converseBody),
    clients,
    pace: "at once",
    pauseMs: { start: 0, between: 0 },
    seed: 1,
  };
}

/** Whether `clients` who play one turn after the other in real time all heard every frame in time. */
export async function holdsStreams(
  server: ServerProcess,
  clients: number,
  durationMs: number,
): Promise<Held> {
  const utterances = await runLoad({
    ...tenWords(server, clients),
    bodies: TURNS.map(converseBody),
    pace: "real time",
    pauseMs: { start: startWithinMs(durationMs), between: 0 },
    durationMs: durationMs + startWithinMs(durationMs),
    seed: clients,
  });
  return heldOf(utterances);
}

/** How a number of streams fared. */
export interface Held {
  /** No underrun, no failure, and nobody waited more than a second for the first audio. */
  readonly isHeld: boolean;
  readonly underruns: number;
  readonly frames: number;
  readonly failures: number;
  readonly worstFirstAudioMs: number;
}

export function heldOf(utterances: readonly Utterance[]): Held {
  const sum = (of: (utterance: Utterance) => number) =>
    utterances.reduce((total, utterance) => total + of(utterance), 0);
  const underruns = sum((utterance) => utterance.underruns);
  const failures = sum(({ failure }) => (failure === null ? 0 : 1));
  const frames = sum((utterance) => utterance.frames);
  const worstFirstAudioMs = Math.max(0, ...utterances.map(({ firstAudioMs }) => firstAudioMs ?? 0));
  const isHeld = frames > 0 && underruns === 0 && failures === 0 && worstFirstAudioMs <= MAX_SILENCE_MS;
  return { isHeld, underruns, frames, failures, worstFirstAudioMs };
}

/** Streams that are then heard for `durationMs` begin at random within this time, in milliseconds. */
export function startWithinMs(durationMs: number): number {
  return Math.min(2_000, durationMs);
}

const MAX_SILENCE_MS = 1_000;

/** Tries ever more streams until they are not held. @returns the most that were, and how each number fared. */
export async function maxHeld(
  steps: readonly number[],
  isHeld: (streams: number) => Promise<Held>,
): Promise<{ readonly most: number; readonly tried: ReadonlyMap<number, Held> }> {
  const tried = new Map<number, Held>();
  let most = 0;
  for (const streams of steps) {
    const held = await isHeld(streams);
    tried.set(streams, held);
    if (!held.isHeld) break;
    most = streams;
  }
  return { most, tried };
}
