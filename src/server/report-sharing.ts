import { randomUUID } from "node:crypto";
import { readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { replaceFile } from "../core/replace-file.ts";

export interface LookForAnother {
  readonly dataDir: string;
  /** Aborts when this server stops. */
  readonly signal: AbortSignal;
  readonly note: (sentence: string) => void;
  /** Milliseconds between signs of life. Default: 5000. */
  readonly beatMs?: number;
}

/**
 * Reports once if another server uses the same data directory, and shows later servers that this one does, until the
 * signal aborts. A file whose modification time advances is the sign of life, so that a server that died is not
 * reported. Never throws.
 */
export async function reportSharing(look: LookForAnother): Promise<void> {
  const file = join(look.dataDir, "server.running");
  const own = randomUUID();
  try {
    if (await isAnother(file, own, look)) {
      look.note(
        `Another server runs on the data directory ${look.dataDir}. They share keys, usage and voices, but each counts rate limits by ` +
          "itself. If it is not meant so, stop one of them, or give this one a folder of its own with --data-dir.",
      );
    }
  } catch {
    // The server stops, or the directory is not writable.
  }
  if ((await beatOf(file))?.owner === own) await rm(file, { force: true }).catch(() => {});
}

/** Returns when another server is found; throws when the signal aborts. */
async function isAnother(
  file: string,
  own: string,
  { signal, beatMs = 5_000 }: LookForAnother,
): Promise<true> {
  const wait = (beats: number) => sleep(beats * beatMs, undefined, { signal, ref: false });
  const before = await beatOf(file);
  if (before !== null) {
    await wait(2.5);
    const now = await beatOf(file);
    if (now !== null && now.timeMs !== before.timeMs) return true;
  }
  await replaceFile(file, own);
  for (;;) {
    await wait(1);
    const now = await beatOf(file);
    if (now !== null && now.owner !== own) return true;
    const time = new Date();
    if (now === null) await replaceFile(file, own);
    else await utimes(file, time, time);
  }
}

async function beatOf(file: string) {
  try {
    return { owner: await readFile(file, "utf8"), timeMs: (await stat(file)).mtimeMs };
  } catch {
    return null;
  }
}
