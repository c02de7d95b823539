import { setMaxListeners } from "node:events";
import { LoadClient } from "./load-client.ts";
import type { LoadJob, LoadResult } from "./load-job.ts";

process.once("message", (job: LoadJob) => {
  void generate(job).then((utterances) => process.send?.(utterances, () => process.disconnect()));
});

async function generate(job: LoadJob): Promise<LoadResult[]> {
  const utterances: LoadResult[] = [];
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const random = mulberry32(job.seed);
  const beganMs = performance.now();
  let left = job.requests ?? Number.POSITIVE_INFINITY;
  const timer = job.durationMs === undefined ? undefined : setTimeout(() => stop.abort(), job.durationMs);

  const nextBody = () => job.bodies[Math.floor(random() * job.bodies.length)] ?? "";
  const client = () => new LoadClient(job);

  /** Requests at random times, whether or not earlier ones were answered. */
  async function openLoop(ratePerS: number): Promise<void> {
    const replies: Promise<void>[] = [];
    for (let atMs = 0; left > 0 && !stop.signal.aborted; left -= 1) {
      atMs -= (1_000 * Math.log(1 - random())) / ratePerS;
      await pause(atMs - (performance.now() - beganMs), stop.signal);
      replies.push(one(client(), nextBody()));
    }
    await Promise.all(replies);
  }

  async function one(own: LoadClient, body: string): Promise<void> {
    utterances.push(await own.request(body, stop.signal));
    own.close();
  }

  /** Clients that each make one request after the other. */
  async function closedLoop(own: LoadClient): Promise<void> {
    await pause(random() * job.pauseMs.start, stop.signal);
    while (left > 0 && !stop.signal.aborted) {
      left -= 1;
      utterances.push(await own.request(nextBody(), stop.signal));
      await pause(random() * job.pauseMs.between, stop.signal);
    }
    own.close();
  }

  if (job.ratePerS !== undefined) await openLoop(job.ratePerS);
  else await Promise.all(Array.from({ length: job.clients }, () => closedLoop(client())));
  clearTimeout(timer);
  return utterances;
}

/** Resolves after `ms`, or as soon as the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish, { once: true });
  });
}

/** Numbers in [0, 1) that repeat with their seed (Ettinger, 2017). */
function mulberry32(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
}
