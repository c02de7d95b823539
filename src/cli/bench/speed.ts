import { availableParallelism } from "node:os";
import { openEmbeddedVoice } from "../../server/voices/embedded-voice.ts";
import { engineAlone, engineStreams, realTimeFactor } from "./engine-speed.ts";
import type { Utterance } from "./load-job.ts";
import { percentile } from "./percentile.ts";
import { startServerProcess } from "./server-process.ts";
import { heldOf, holdsStreams, maxHeld, oneClient } from "./service-speed.ts";

/** How fast this machine speaks, through the whole service or by the engine alone. */
export interface Speed {
  /** Time to the first audio of ten words, one client, in milliseconds. */
  readonly first_audio_p50_ms: number;
  readonly first_audio_p95_ms: number;
  /** Seconds that a second of speech takes, one client. */
  readonly real_time_factor: number;
  /** Streams in real time at once, none of which ran dry. */
  readonly streams_held: number;
}

/** How much is measured. */
export interface SpeedOptions {
  readonly requests: number;
  /** Numbers of streams to try, upwards. */
  readonly steps: readonly number[];
  /** How long each number is tried, in milliseconds, once all its streams have begun. */
  readonly stepMs: number;
}

/** Measures a server in a process of its own, with a load generator in another, over real sockets. */
export async function serviceSpeed({ requests, steps, stepMs }: SpeedOptions): Promise<Speed> {
  const server = await startServerProcess();
  try {
    const alone = await oneClient(server, requests);
    const { most } = await maxHeld(steps, (streams) => holdsStreams(server, streams, stepMs));
    return speedOf(alone, most);
  } finally {
    await server.stop();
  }
}

/** Measures the same of the engine in this process, with as many threads as the server has. */
export async function engineSpeed({ requests, steps, stepMs }: SpeedOptions): Promise<Speed> {
  const voice = await openEmbeddedVoice({ threads: availableParallelism() });
  try {
    const alone = await engineAlone(voice, requests);
    const { most } = await maxHeld(steps, async (streams) =>
      heldOf(await engineStreams(voice, streams, stepMs)),
    );
    return speedOf(alone, most);
  } finally {
    await voice.close();
  }
}

function speedOf(alone: readonly Utterance[], streamsHeld: number): Speed {
  const failure = alone.find((utterance) => utterance.failure !== null)?.failure;
  if (failure !== undefined) throw new Error(`A request of the measurement failed: ${failure}.`);
  const firstAudioMs = alone.flatMap((utterance) => utterance.firstAudioMs ?? []);
  return {
    first_audio_p50_ms: rounded(percentile(firstAudioMs, 0.5), 0.1),
    first_audio_p95_ms: rounded(percentile(firstAudioMs, 0.95), 0.1),
    real_time_factor: rounded(realTimeFactor(alone), 0.001),
    streams_held: streamsHeld,
  };
}

function rounded(value: number, unit: number): number {
  return Number((Math.round(value / unit) * unit).toFixed(6));
}
