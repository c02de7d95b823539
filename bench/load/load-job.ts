import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** What a load generator is asked to do. It can be cloned into another process. */
export interface LoadJob {
  /** `http://host:port`. */
  readonly url: string;
  readonly key: string;
  readonly path: "/v1/converse/stream" | "/v1/audio/speech" | "/v1/tts";
  /** Request bodies (JSON), taken at random with the seed. */
  readonly bodies: readonly string[];
  /** Clients at once, each with a connection of its own that it keeps. */
  readonly clients: number;
  /** Whether a client reads as fast as it can, or plays what it reads in real time. */
  readonly pace: "at once" | "real time";
  /** Requests in all after which no more are sent. */
  readonly requests?: number;
  /** Time after which everything is cut off, in milliseconds. */
  readonly durationMs?: number;
  /** Requests a second, at random times (Poisson) whatever becomes of the earlier ones. `clients` then has no effect. */
  readonly ratePerS?: number;
  /** Clients begin at random within this time, and wait at random up to this long between two requests. */
  readonly pauseMs: { readonly start: number; readonly between: number };
  readonly seed: number;
}

/** What became of one request. */
export interface LoadResult {
  /** From before the request's first byte was written until the first audio was read, an event or, of `/v1/audio/speech`, a byte; null when none came. */
  readonly firstAudioMs: number | null;
  /** The same until the reply's last byte; null when it was cut off. */
  readonly totalMs: number | null;
  /** Louder of the first two frames, root mean square, 1 being full scale. */
  readonly openingRms: number;
  readonly frames: number;
  /** Frames that came too late to be played in time. */
  readonly underruns: number;
  /** Longest that one came too late, in milliseconds. */
  readonly worstLateMs: number;
  /** What went wrong, or null. */
  readonly failure: string | null;
}

/** Audio that a playing client has before it begins to play. */
export const BUFFER_MS = 200;

/** A client that plays stops reading when it is this far ahead, and goes on when it is less than half of it ahead. */
export const MAX_AHEAD_MS = 480;

/**
 * Runs a load in a process of its own, so that what the clients compute is not measured as the server's.
 *
 * @throws Error when the process ends without a result.
 */
export function runLoad(job: LoadJob): Promise<readonly LoadResult[]> {
  const child = fork(fileURLToPath(new URL("./load-generator.js", import.meta.url)), { execArgv: [] });
  return new Promise((resolve, reject) => {
    let result: readonly LoadResult[] | null = null;
    child.once("message", (message: readonly LoadResult[]) => {
      result = message;
    });
    child.once("error", reject);
    child.once("exit", (code) => {
      if (result !== null) resolve(result);
      else reject(new Error(`The load generator ended with code ${code} and no result.`));
    });
    child.send(job);
  });
}
