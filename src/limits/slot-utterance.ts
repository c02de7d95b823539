import type { ServiceError } from "../contract/errors.ts";
import { KeyCounter, type Waiter } from "./fair-queue.ts";

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
  /** Late utterances from which, if that lasts, only keys without a late one open more. Default: no limit. */
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

/** What decides how an utterance waits for its first slot. */
export interface UtteranceTraits {
  /** Whether its text has begun to arrive: a server that stops lets it finish. */
  readonly isBegun?: boolean;
  /** Whether a refusal is better than late audio: it is played as it comes, and no reply was written for it. */
  readonly isUrgent?: boolean;
  /** Minimum seconds of speech. */
  readonly minSpeechS?: number;
}

export interface SlotUtterance extends Required<Omit<UtteranceTraits, "minSpeechS">> {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly stop: (reason: ServiceError) => void;
  state: "new" | "active" | "paused";
  isEnding: boolean;
  readonly enteredMs: number;
  /** `null` before it is opened, and while it is paused because it is far ahead. */
  progress: Progress | null;
  /** Start of its rest, in milliseconds; `null` while something is computed. */
  restingSinceMs: number | null;
  coming: Promise<void> | null;
  entry: QueueEntry | null;
  /** Minimum time that it takes a slot, in milliseconds; 0 if unknown. */
  readonly minSlotMs: number;
  openedMs: number | null;
}

/** Seconds that an utterance is ahead of a real-time listener, and times in milliseconds. */
interface Progress {
  /** At its opening or last restart. */
  readonly startAheadS: number;
  readonly startMs: number;
  /** When it last asked for a frame. */
  readonly aheadS: number;
  readonly askedMs: number;
}

/** Seconds that an utterance should be ahead of its listener, and seconds per second that it should gain before. */
const [MIN_AHEAD_S, MIN_GROWTH] = [1, 3];
/** Rest, in milliseconds, after which progress is measured anew: the client sent no text, or did not read. */
const RESTART_MS = 100;
/** Seconds that the first frame after a rest may take. */
const RESTART_S = 0.1;
/** Seconds until the first frame after which an utterance is not late: it analyses recordings, or loads a model. */
const MAX_START_S = 0.3;
/** Seconds for a frame after which an utterance is not late but stuck, as in a thread that hangs. */
const STUCK_S = 2;
/** Shortest time between two counts by utterances in progress, in milliseconds. */
const COUNT_MS = 10;
/** Overload, in milliseconds, from which newcomers wait. A burst on an idle machine is opened before that. */
const WAIT_FROM_MS = 300;
/**
 * Once urgent newcomers have come to an overloaded server for so long, in milliseconds, those are refused whose first audio
 * is expected after `FIRST_AUDIO_MS`. Then 95 % of the others begin within half a second, even at 0.3 of a core. A burst is
 * over sooner, and is served.
 */
const REFUSE_FROM_MS = 400;
const FIRST_AUDIO_MS = 240;
/** Time without an urgent newcomer after which another burst begins, in milliseconds. */
const BURST_MS = 1_000;
/** Maximum overload, in milliseconds, which bounds the time until it is forgotten. */
const MAX_OVERLOAD_MS = 1_500;

/** Returns whether an utterance is too little ahead of its listener, and gains too slowly. */
function isLate({ progress, restingSinceMs }: SlotUtterance, nowMs: number): boolean {
  if (progress === null || restingSinceMs !== null) return false;
  const waitS = (nowMs - progress.askedMs) / 1_000;
  const ageS = (nowMs - progress.startMs) / 1_000;
  if (progress.aheadS === 0 && ageS > MAX_START_S) return false;
  const dueS = Math.min(MIN_AHEAD_S, progress.startAheadS + MIN_GROWTH * ageS);
  return waitS < STUCK_S && progress.aheadS - waitS <= dueS;
}

/**
 * Counts late utterances. While at least `maxLate` are late for long, the machine is too slow for newcomers, except those
 * of keys without a late one, of which up to `2 * maxLate` may open one.
 */
export class Lateness {
  readonly #maxLate: number;
  #lateBy = new KeyCounter();
  #countedMs = 0;
  /** Time with at least `maxLate` late utterances minus time with fewer, in milliseconds. */
  #overloadMs = 0;
  /** When the first and the last urgent newcomer came that had to wait. */
  #firstWaitMs = 0;
  #lastWaitMs = Number.NEGATIVE_INFINITY;
  /** Moving average of the time from a slot to the first frame. */
  #firstFrameMs = 0;

  constructor(maxLate = Number.POSITIVE_INFINITY) {
    this.#maxLate = maxLate;
  }

  isDue(nowMs: number): boolean {
    return nowMs - this.#countedMs >= COUNT_MS;
  }

  update(open: Iterable<SlotUtterance>, nowMs: number): void {
    const wasLate = this.#lateBy.total >= this.#maxLate;
    this.#lateBy = new KeyCounter();
    for (const each of open) if (isLate(each, nowMs)) this.#lateBy.add(each.key, 1);
    const passedMs = nowMs - this.#countedMs;
    this.#countedMs = nowMs;
    this.#overloadMs += wasLate && this.#lateBy.total >= this.#maxLate ? passedMs : -passedMs;
    this.#overloadMs = Math.min(MAX_OVERLOAD_MS, Math.max(0, this.#overloadMs));
  }

  /** Counts an utterance that is opened, which is late at first. */
  add(utterance: SlotUtterance, nowMs: number): void {
    utterance.progress = { startAheadS: 0, startMs: nowMs, aheadS: 0, askedMs: nowMs };
    this.#lateBy.add(utterance.key, 1);
  }

  /** Records that an utterance asks for a frame, which ends its rest. */
  record(utterance: SlotUtterance, aheadS: number, askedMs: number): void {
    const { progress, restingSinceMs } = utterance;
    const readyMs = restingSinceMs ?? askedMs;
    if (progress?.aheadS === 0 && aheadS !== 0) {
      const tookMs = Math.min(FIRST_AUDIO_MS, readyMs - progress.startMs);
      this.#firstFrameMs += (tookMs - this.#firstFrameMs) / 8;
    }
    const start =
      progress !== null && askedMs - readyMs < RESTART_MS
        ? progress
        : { startAheadS: aheadS - (MIN_GROWTH + 1) * RESTART_S, startMs: askedMs };
    utterance.progress = { startAheadS: start.startAheadS, startMs: start.startMs, aheadS, askedMs };
    utterance.restingSinceMs = null;
  }

  /** Whether a key may open an utterance. */
  admits(key: string): boolean {
    if (this.#lateBy.total < this.#maxLate || this.#overloadMs < WAIT_FROM_MS) return true;
    return this.#lateBy.of(key) === 0 && this.#lateBy.keysAt(1) < 2 * this.#maxLate;
  }

  /** Records that an urgent newcomer has to wait. */
  recordWaiting(nowMs: number): void {
    if (nowMs - this.#lastWaitMs >= BURST_MS) this.#firstWaitMs = nowMs;
    this.#lastWaitMs = nowMs;
  }

  /** Whether overload lasts and one that has waited so long would begin late. First frames take up to twice the average. */
  refuses(waitedMs: number): boolean {
    const isLasting = this.#lastWaitMs - this.#firstWaitMs >= REFUSE_FROM_MS;
    return isLasting && waitedMs + 2 * this.#firstFrameMs >= FIRST_AUDIO_MS;
  }
}

export interface QueueEntry extends Waiter<void> {
  readonly utterance: SlotUtterance;
}

export function isNew({ utterance }: QueueEntry): boolean {
  return utterance.state === "new";
}
