import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../src/engines/prosody/random.ts";
import { randomFor } from "../hearing/sounds.ts";

/** Requests of one kind, one in each interval. */
export interface RequestKind {
  readonly name: string;
  readonly everyS: number;
  /**
   * @param leaves whether the client disconnects midway, if it is in time
   * @throws Error for an unexpected reply
   */
  send(random: Random, leaves: boolean): Promise<"left" | "refused" | undefined>;
}

/**
 * Requests so far. `refused` are streams for which the machine was too slow at the time, `skipped` those that were due
 * while too many of their kind were in progress.
 */
export type Tally = Record<"done" | "left" | "refused" | "failed" | "skipped", number>;

const MAX_IN_PROGRESS = 8;
const SHARE_THAT_LEAVES = 0.1;

/** Sends requests of one kind at times drawn with the seed until the signal aborts, then waits for the last replies. */
export async function repeatRequests(
  { name, everyS, send }: RequestKind,
  seed: number,
  tally: Tally,
  onFailure: (message: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const random = randomFor(`${seed} ${name}`);
  const inProgress = new Set<Promise<void>>();
  const begunMs = performance.now();
  const sendOne = async (): Promise<void> => {
    try {
      tally[(await send(random, random.uniform() < SHARE_THAT_LEAVES)) ?? "done"] += 1;
    } catch (error) {
      tally.failed += 1;
      // The lines after the first of an AssertionError repeat it as a diff.
      onFailure(`${name}: ${error instanceof Error ? error.message.split("\n")[0] : error}`);
    }
  };
  for (let index = 0; ; index++) {
    const dueMs = begunMs + 1_000 * everyS * (index + random.uniform());
    await sleep(Math.max(0, dueMs - performance.now()), undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    if (inProgress.size === MAX_IN_PROGRESS) tally.skipped += 1;
    else {
      const request = sendOne().finally(() => inProgress.delete(request));
      inProgress.add(request);
    }
  }
  await Promise.all(inProgress);
}
