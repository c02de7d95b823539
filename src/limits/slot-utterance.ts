import type { ServiceError } from "../contract/errors.ts";
import type { Waiter } from "./fair-queue.ts";
import { NEW_LEAD_S } from "./real-time-budget.ts";

/** Rest, in milliseconds, after which a waiting utterance takes the slot. */
export const REST_MS = 500;

/** Utterance that asks for a slot. */
export interface NewUtterance {
  /** Whether its text is written already: it may wait longer, and a server that stops lets it finish. */
  readonly isBegun?: boolean;
  /** Whether a listener takes its audio as it comes: it has to begin soon and must not run dry. */
  readonly isStreamed?: boolean;
}

/** Utterance that has a slot or waits for one. */
export interface SlotUtterance extends Required<NewUtterance> {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly stop: (reason: ServiceError) => void;
  readonly askedMs: number;
  state: "new" | "active" | "paused";
  isEnding: boolean;
  /** Start of its rest, in milliseconds; `null` while something is computed. */
  restingSinceMs: number | null;
  coming: Promise<void> | null;
  entry: QueueEntry | null;
  spokenS: number;
  firstFrameMs: number | null;
}

export interface QueueEntry extends Waiter<void> {
  readonly utterance: SlotUtterance;
}

/** Whether it has not been opened yet. */
export function isNew({ utterance }: QueueEntry): boolean {
  return utterance.state === "new";
}

/** Returns the seconds of speech that its listener has not played yet; infinite if its client reads nothing. */
export function leadS({ spokenS, firstFrameMs, restingSinceMs }: SlotUtterance, nowMs: number): number {
  if (restingSinceMs !== null && nowMs - restingSinceMs >= REST_MS) return Number.POSITIVE_INFINITY;
  return firstFrameMs === null ? NEW_LEAD_S : Math.max(0, spokenS - (nowMs - firstFrameMs) / 1_000);
}

/** Returns its rank in the line of its key: a resumed one already has a listener, a whole reply has none yet. */
export function urgency({ utterance: { state, isStreamed } }: QueueEntry): number {
  return state !== "new" ? 2 : isStreamed ? 1 : 0;
}
