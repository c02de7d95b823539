import type { ServiceError } from "../contract/errors.ts";
import type { Waiter } from "./fair-queue.ts";

/** Slot of an utterance. Another utterance may take it over; the next frame then waits for one again. */
export interface Slot {
  /** Marks that nothing is computed: the client has not asked for more, or the text is not there yet. */
  rest(): void;
  /** Gives the slot up at once, although the client asks for more. */
  pause(): void;
  /**
   * Asks to compute a frame. Returns `null` if it may begin, else a promise to wait for, which rejects with the
   * signal's reason. `aheadS`: seconds of audio beyond what a real-time listener has played.
   */
  work(aheadS: number): Promise<void> | null;
  release(): void;
}

export interface SlotPrice {
  /** Minimum seconds of a slot per second of speech. */
  readonly perSecond: number;
  /** Longest wait for a first slot, in milliseconds, after which the first audio is still in time. */
  readonly patienceMs: number;
}

/** Utterance that asks for a slot. */
export interface NewUtterance {
  /** Whether its text is written: a server that stops lets it finish. */
  readonly isBegun?: boolean;
  /** Whether a listener may play its audio as it comes. */
  readonly isStreamed?: boolean;
  /** Minimum seconds of speech. */
  readonly leastS?: number;
}

export interface SlotUtterance extends Required<Omit<NewUtterance, "leastS">> {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly stop: (reason: ServiceError) => void;
  readonly askedMs: number;
  state: "new" | "active" | "paused";
  isEnding: boolean;
  /** Seconds of audio beyond what its listener had played when it asked for the frame that is computed now. */
  ahead: { readonly seconds: number; readonly atMs: number } | null;
  /** Start of its rest, in milliseconds; `null` while something is computed. */
  restingSinceMs: number | null;
  coming: Promise<void> | null;
  entry: QueueEntry | null;
  /** Minimum time that it takes a slot, in milliseconds; 0 if unknown. */
  readonly takesMs: number;
  sinceMs: number | null;
}

export interface QueueEntry extends Waiter<void> {
  readonly utterance: SlotUtterance;
}

export function isNew({ utterance }: QueueEntry): boolean {
  return utterance.state === "new";
}

/** Seconds ahead below which a stream is late: a player needs some, and a busy machine stalls. */
const LATE_S = 1;
/** Seconds behind from which a stream is not late but stuck, as in a thread that hangs. */
const STUCK_S = 5;
/** Milliseconds in which an idle machine brings a stream ahead. Until then a late one counts half. */
const START_MS = 200;

/** Returns how much a stream that wants its next frame counts as late for its listener: 0, 0.5 or 1. */
export function lateness(utterance: SlotUtterance, nowMs: number): number {
  const { isStreamed, restingSinceMs, sinceMs } = utterance;
  if (!isStreamed || restingSinceMs !== null || sinceMs === null) return 0;
  const { seconds, atMs } = utterance.ahead ?? { seconds: 0, atMs: sinceMs };
  const aheadS = seconds - (nowMs - atMs) / 1_000;
  if (aheadS >= LATE_S || aheadS <= -STUCK_S) return 0;
  return nowMs - sinceMs < START_MS ? 0.5 : 1;
}

export function count<T>(items: Iterable<T>, isMeant: (item: T) => boolean): number {
  let found = 0;
  for (const item of items) if (isMeant(item)) found++;
  return found;
}
