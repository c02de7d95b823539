import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "./load/percentile.ts";

/** How long `GET /health` took, in milliseconds. */
export interface HealthTimes {
  readonly p50: number;
  readonly p99: number;
  readonly looks: number;
}

/**
 * Asks over and over while `work` lasts, one after the other. One that takes ten seconds is given up, and counts as that.
 *
 * @throws Error when it is answered otherwise than with 200.
 */
export async function healthDuring<T>(
  url: string,
  work: Promise<T>,
): Promise<{ readonly result: T; readonly health: HealthTimes }> {
  let isOver = false;
  const timesMs: number[] = [];
  const looking = (async () => {
    while (!isOver) {
      const askedMs = performance.now();
      const status = await statusOf(`${url}/health`);
      if (status !== null && status !== 200) throw new Error(`GET /health answered ${status}`);
      timesMs.push(status === null ? MAX_MS : performance.now() - askedMs);
      await sleep(PAUSE_MS);
    }
  })();
  try {
    const result = await work;
    isOver = true;
    await looking;
    const [p50, p99] = [percentile(timesMs, 0.5), percentile(timesMs, 0.99)];
    return { result, health: { p50, p99, looks: timesMs.length } };
  } finally {
    isOver = true;
    await Promise.allSettled([looking]);
  }
}

const PAUSE_MS = 10;
const MAX_MS = 10_000;

/** Null where no answer came in time. */
async function statusOf(address: string): Promise<number | null> {
  try {
    const reply = await fetch(address, { signal: AbortSignal.timeout(MAX_MS) });
    await reply.arrayBuffer();
    return reply.status;
  } catch (error) {
    if (error instanceof DOMException && error.name === "TimeoutError") return null;
    throw error;
  }
}
