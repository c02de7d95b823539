import type { ServiceError } from "../contract/errors.ts";
import type { Waiter } from "./fair-queue.ts";

export interface UtteranceSlotOptions {
  /** Utterances computed at once. */
  readonly concurrency: number;
  /** Utterances of one key that may be open at once, those without a slot included. */
  readonly keyConcurrency: number;
  /** Requests that may wait for a first slot, in total and per key. */
  readonly queueDepth: number;
  readonly keyQueueDepth: number;
  /** Longest wait for a first slot, in milliseconds. */
  readonly queueWaitMs: number;
  /** Whether every open utterance keeps a slot, so that no more are opened than there are slots. Default: false. */
  readonly keepsSlots?: boolean;
  /** Cost of kept slots: a request that could not get one in time is refused at once. */
  readonly price?: SlotPrice;
  /** While so many utterances are late, no other is opened. Default: no limit. */
  readonly maxLate?: number | undefined;
  readonly nowMs?: () => number;
}

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
  /** Whether its audio is played as it comes, so that a client prefers a refusal to a long wait. */
  readonly isPlayed?: boolean;
  /** Minimum seconds of speech. */
  readonly leastS?: number;
}

interface Asked extends Required<NewUtterance> {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly stop: (reason: ServiceError) => void;
}

export interface SlotUtterance extends Asked {
  state: "new" | "active" | "paused";
  isEnding: boolean;
  readonly enteredMs: number;
  /** `null` before it is opened, and while it lets its listener catch up. */
  progress: Progress | null;
  /** Start of its rest, in milliseconds; `null` while something is computed. */
  restingSinceMs: number | null;
  coming: Promise<void> | null;
  entry: QueueEntry | null;
  /** Minimum time that it takes a slot, in milliseconds; 0 if unknown. */
  readonly takesMs: number;
  sinceMs: number | null;
}

export function newUtterance(asked: Asked, price: SlotPrice | undefined, enteredMs: number): SlotUtterance {
  return {
    ...asked,
    state: "new",
    isEnding: false,
    enteredMs,
    progress: null,
    restingSinceMs: null,
    coming: null,
    entry: null,
    takesMs: 1_000 * asked.leastS * (price?.perSecond ?? 0),
    sinceMs: null,
  };
}

/** Lead of an utterance over a real-time listener, in seconds, and times in milliseconds. */
interface Progress {
  /** At its opening or last restart. */
  readonly startAheadS: number;
  readonly startMs: number;
  /** When it last asked for a frame. */
  readonly aheadS: number;
  readonly askedMs: number;
}

/** Lead in seconds that an utterance should reach, and its growth per second until then. */
const [LEAD_S, LEAD_GROWTH] = [1, 3];
/** Rest, in milliseconds, after which an utterance restarts: its listener waited for text, or did not read. */
const RESTART_MS = 100;
/** Seconds that a restart may take. */
const RESTART_S = 0.1;
/** Seconds without a frame after which an utterance is not late but stuck, as in a thread that hangs. */
const STUCK_S = 5;

export function firstProgress(nowMs: number): Progress {
  return { startAheadS: 0, startMs: nowMs, aheadS: 0, askedMs: nowMs };
}

export function recordProgress(utterance: SlotUtterance, aheadS: number, askedMs: number): void {
  const { progress, restingSinceMs } = utterance;
  const continues = progress !== null && askedMs - (restingSinceMs ?? askedMs) < RESTART_MS;
  const { startAheadS, startMs } = continues
    ? progress
    : { startAheadS: aheadS - RESTART_S, startMs: askedMs };
  utterance.progress = { startAheadS, startMs, aheadS, askedMs };
}

/** Whether an utterance that wants its next frame is computed too slowly for another one beside it. */
export function isLate({ progress, restingSinceMs }: SlotUtterance, nowMs: number): boolean {
  if (progress === null || restingSinceMs !== null) return false;
  const waitS = (nowMs - progress.askedMs) / 1_000;
  const ageS = (nowMs - progress.startMs) / 1_000;
  const dueS = Math.min(LEAD_S, progress.startAheadS + LEAD_GROWTH * ageS);
  return waitS < STUCK_S && progress.aheadS - waitS <= dueS;
}

export interface QueueEntry extends Waiter<void> {
  readonly utterance: SlotUtterance;
}

export function isNew({ utterance }: QueueEntry): boolean {
  return utterance.state === "new";
}

export function count<T>(items: Iterable<T>, isMeant: (item: T) => boolean): number {
  let found = 0;
  for (const item of items) if (isMeant(item)) found++;
  return found;
}
