import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stopWith } from "../../core/stop-with.ts";
import type { WriterManifest } from "../checkpoint-manifest.ts";
import { checkpointDir } from "../installed-checkpoint.ts";
import { asDiskError } from "./disk.ts";
import type { PullTimes } from "./options.ts";
import { codeOf, PullError } from "./pull-error.ts";

/** The lock of a checkpoint, beside its folder. */
export function lockPath(manifest: Pick<WriterManifest, "name">, dataDir: string): string {
  return join(dirname(checkpointDir(manifest, dataDir)), `.${manifest.name}.lock`);
}

/** What is done under a lock. The signal aborts, with a reason that says so, when another process has taken the lock. */
type Guarded<T> = (signal: AbortSignal) => Promise<T>;

/**
 * Does work under a lock that one process at a time holds, and one call in it. Whoever finds it held is told once and
 * waits. The lock of a process that died counts for nothing soon after.
 *
 * @throws PullError when the lock cannot be made; the signal's reason; what `work` throws.
 */
export async function withLock<T>(
  path: string,
  times: PullTimes,
  signal: AbortSignal,
  onWait: () => void,
  work: Guarded<T>,
): Promise<T> {
  const lost = new AbortController();
  const release = await acquire(path, times, signal, onWait, () => {
    lost.abort(
      new PullError("Another process has begun to install the same checkpoint: wait for it, then try again."),
    );
  });
  const stop = stopWith([signal, lost.signal]);
  try {
    return await work(stop.signal);
  } finally {
    stop.end();
    // A lock that was lost is another's by now.
    if (!lost.signal.aborted) await release().catch(() => {});
  }
}

/** The same for whoever does not want to wait: `null` when the lock is held. */
export async function tryLock<T>(
  path: string,
  times: PullTimes,
  work: () => Promise<T>,
): Promise<{ readonly result: T } | null> {
  const stop = new AbortController();
  try {
    const whenHeld = () => stop.abort(HELD);
    return { result: await withLock(path, times, stop.signal, whenHeld, work) };
  } catch (error) {
    if (error === HELD) return null;
    throw error;
  }
}

const HELD = new Error("the lock is held");

async function acquire(
  path: string,
  times: PullTimes,
  signal: AbortSignal,
  onWait: () => void,
  onCompromised: () => void,
): Promise<() => Promise<void>> {
  const { lock } = loadLockfile();
  const options = { lockfilePath: path, realpath: false, stale: times.lockStaleMs, onCompromised };
  for (let waits = 0; ; waits++) {
    signal.throwIfAborted();
    try {
      return await lock(path, options);
    } catch (error) {
      if (codeOf(error) !== "ELOCKED") throw asDiskError(error, dirname(path));
    }
    if (waits === 0) onWait();
    await sleep(times.lockPollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/**
 * The library listens to signals so as to remove its locks, and ends a process when it finds itself the only listener:
 * which it also is when a `once` listener, a server's orderly stop, has just been called. Its locks go stale anyway, so
 * its listeners go. Loaded in one step, so that nobody else's listeners are among the new ones.
 */
function loadLockfile(): typeof import("proper-lockfile") {
  const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
  const lockfile = createRequire(import.meta.url)("proper-lockfile");
  for (const signal of SIGNALS) {
    for (const listener of process.listeners(signal)) {
      if (before.get(signal)?.includes(listener) !== true) process.removeListener(signal, listener);
    }
  }
  return lockfile;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
