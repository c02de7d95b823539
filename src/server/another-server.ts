import { once } from "node:events";
import { join } from "node:path";
import { withLock } from "../catalogue/pull/lock.ts";
import { DEFAULT_TIMES, type PullTimes } from "../catalogue/pull/options.ts";
import { stopWith } from "../model/stop-with.ts";

/** A server that looks for others on its data directory. */
export interface LookForAnother {
  readonly dataDir: string;
  /** Aborts when it stops. */
  readonly signal: AbortSignal;
  readonly note: (sentence: string) => void;
  readonly times?: Pick<PullTimes, "lockPollMs" | "lockStaleMs">;
}

/**
 * Tells once that another server runs on the same data directory, and is found there by the next until the signal aborts. The
 * traces of one that died count for nothing soon after, so it takes a while to tell. Never throws: a server runs without.
 */
export async function tellOfAnother({ dataDir, signal, note, times }: LookForAnother): Promise<void> {
  const patience = { ...DEFAULT_TIMES, ...times };
  const isHeld = new AbortController();
  const stop = stopWith([signal, isHeld.signal]);
  const onWait = (): void => {
    setTimeout(() => isHeld.abort(), 1.5 * patience.lockStaleMs).unref();
  };
  try {
    await withLock(join(dataDir, ".server.lock"), patience, stop.signal, onWait, async () => {
      if (!signal.aborted) await once(signal, "abort");
    });
  } catch {
    if (isHeld.signal.aborted) note(told(dataDir));
  } finally {
    stop.end();
  }
}

function told(dataDir: string): string {
  return (
    `Another server runs on the data directory ${dataDir}. They share keys, usage and voices, but each counts rate limits by ` +
    "itself. If it is not meant so, stop one of them, or give this one a folder of its own with --data-dir."
  );
}
