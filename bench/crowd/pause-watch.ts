import { setTimeout as sleep } from "node:timers/promises";
import type { ServerProcess } from "../load/server-process.ts";
import { readGauges } from "./gauges.ts";
import { mainThreadTime } from "./thread-time.ts";

/** How long a server's main thread did nothing else, as it tells and as a client notices. */
export interface Pauses {
  /** Longest time between two ticks of a timer of 10 ms in the server, in milliseconds: about 10 where nothing pauses. */
  readonly maxMs: number;
  /** How long `GET /health` took at worst, in milliseconds, and how often it was asked. */
  readonly healthMs: number;
  readonly healthLooks: number;
  /** Share of the time for which the main thread was ready to run and the machine had no core for it; null: not known. */
  readonly waitingShare: number | null;
}

/**
 * Watches while `work` lasts. Every scrape sets the server's gauge back, so that it tells the longest pause since the one
 * before; of what happens in the 10 ms after a scrape it does not know, and `GET /health`, asked twenty times a second,
 * does.
 */
export async function pausesDuring<T>(
  { url, pid }: Pick<ServerProcess, "url" | "pid">,
  work: Promise<T>,
): Promise<{ readonly result: T; readonly pauses: Pauses }> {
  let isOver = false;
  let [maxMs, healthMs, healthLooks] = [0, 0, 0];
  const begunMs = performance.now();
  const before = mainThreadTime(pid);
  await readGauges(url);
  const lag = every(SCRAPE_MS, async () => {
    const gauges = await readGauges(url);
    const lagS = gauges.get("antiphon_nodejs_eventloop_lag_max_seconds");
    if (lagS === undefined) throw new Error("GET /metrics does not tell the event loop's lag");
    maxMs = Math.max(maxMs, 1_000 * lagS);
  });
  const health = every(HEALTH_MS, async () => {
    const askedMs = performance.now();
    const reply = await fetch(`${url}/health`);
    await reply.arrayBuffer();
    if (!reply.ok) throw new Error(`GET /health answered ${reply.status}`);
    healthMs = Math.max(healthMs, performance.now() - askedMs);
    healthLooks += 1;
  });
  try {
    const [result] = await Promise.race([
      Promise.all([work]),
      Promise.all([lag, health]).then((): never => {
        throw new Error("nobody watches any more");
      }),
    ]);
    const after = mainThreadTime(pid);
    const waitingMs = before === null || after === null ? null : after.waitingMs - before.waitingMs;
    const waitingShare = waitingMs === null ? null : waitingMs / (performance.now() - begunMs);
    return { result, pauses: { maxMs, healthMs, healthLooks, waitingShare } };
  } finally {
    isOver = true;
    await Promise.allSettled([lag, health]);
  }

  async function every(ms: number, look: () => Promise<void>): Promise<void> {
    while (!isOver) {
      await sleep(ms);
      await look();
    }
  }
}

const SCRAPE_MS = 1_000;
const HEALTH_MS = 50;
