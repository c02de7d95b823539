import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stopWith } from "../../core/stop-with.ts";
import type { WriterManifest } from "../checkpoint-manifest.ts";
import { checkpointDir } from "../installed-checkpoint.ts";
import { asDiskError } from "./disk.ts";
import type { PullTimes } from "./options.ts";
import { codeOf, PullError } from "./pull-error.ts";

export function lockPath(manifest: Pick<WriterManifest, "name">, dataDir: string): string {
  return join(dirname(checkpointDir(manifest, dataDir)), `.${manifest.name}.lock`);
}

/** Work under a lock. The signal aborts if another process has taken the lock over. */
type Guarded<T> = (signal: AbortSignal) => Promise<T>;

/**
 * Runs work under a lock that is exclusive among processes and calls. Calls `onWait` once if the lock is taken, and
 * waits. A dead process's lock soon becomes stale.
 *
 * @throws PullError if the lock cannot be created; the signal's reason; what `work` throws
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
    // A lost lock belongs to another process.
    if (!lost.signal.aborted) await release().catch(() => {});
  }
}

/** Like {@link withLock} without waiting: returns `null` if the lock is taken. */
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
 * Loads the library without its signal listeners, which end a process if they find themselves the only ones left, as
 * during an orderly stop after a `once` listener. Locks become stale anyway. Loading is synchronous, so all new
 * listeners are its.
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
