import type { ServiceError } from "../contract/errors.ts";
import { idleTooLongError, keyFullError, serverFullError, shuttingDownError } from "./capacity-errors.ts";
import { FairQueue, KeyCounter, type Verdict, waitForAdmission } from "./fair-queue.ts";
import {
  isNew,
  Lateness,
  type QueueEntry,
  type Slot,
  type SlotUtterance,
  type UtteranceSlotOptions,
  type UtteranceTraits,
} from "./slot-utterance.ts";

/** Rest, in milliseconds, after which a waiting utterance takes the slot. */
const REST_MS = 500;
/** Seconds ahead of its listener from which an utterance lets others go first. */
const YIELD_AHEAD_S = 1;
/** For each slot two utterances may be open: one computed, one paused. */
const OPEN_PER_SLOT = 2;
/** Rest, in milliseconds, after which an utterance is ended if a newcomer has no room. */
const IDLE_MS = 5_000;
/** Interval of checks while utterances wait, in milliseconds. */
const CHECK_MS = 100;
export const SPEAKING = "utterances being spoken";

/**
 * Decides which utterances are computed, wait, or are refused. An utterance holds a slot only while something is
 * computed: a resting one loses it to one that waits, and so does, between two frames, one that is well ahead of its
 * listener or whose key has at least two slots more. No client or key can starve others, and a lone one may have
 * everything. While several have been late for some time, the machine is too slow for more: newcomers wait or are refused.
 */
export class UtteranceSlots {
  readonly #options: UtteranceSlotOptions;
  readonly #nowMs: () => number;
  readonly #lateness: Lateness;
  readonly #queue = new FairQueue<QueueEntry>();
  readonly #open = new Set<SlotUtterance>();
  readonly #openBy = new KeyCounter();
  readonly #activeBy = new KeyCounter();
  #checkTimer: NodeJS.Timeout | undefined;
  #isServing = false;
  #isClosed = false;

  constructor(options: UtteranceSlotOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#lateness = new Lateness(options.maxLate);
  }

  get taken(): number {
    return this.#activeBy.total;
  }

  get active(): number {
    const isActive = ({ state, restingSinceMs }: SlotUtterance) =>
      state === "active" && restingSinceMs === null;
    return [...this.#open].filter(isActive).length;
  }

  /** Utterances that have begun and wait: for a slot, their client, text, or to be less far ahead. */
  get paused(): number {
    return this.#open.size - this.active;
  }

  get queued(): number {
    return [...this.#queue].filter(isNew).length;
  }

  /** Returns why a further request of the key would be refused at once; `null` if it would not. */
  refusalFor(key: string): ServiceError | null {
    if (this.#isClosed) return shuttingDownError();
    const ofKey = this.#queue.of(key).filter(isNew).length;
    return ofKey > 0 && ofKey >= this.#options.keyQueueDepth ? keyFullError(SPEAKING) : null;
  }

  /**
   * Resolves with a slot. Rejects with a `ServiceError` if too many wait (429 for this key, 502 in total) or if the
   * wait is too long or the server stops (502), and with the signal's reason. If slots have a price, it rejects at
   * once a request that none can be free for in time: 429 if its key has them all.
   *
   * @param stop ends the utterance if it has rested for long and others have no room
   */
  async enter(
    key: string,
    signal: AbortSignal,
    stop: (reason: ServiceError) => void,
    { isBegun = false, isUrgent = false, minSpeechS = 0 }: UtteranceTraits = {},
  ): Promise<Slot> {
    signal.throwIfAborted();
    if (this.#isClosed && !isBegun) throw shuttingDownError();
    const { queueWaitMs, price } = this.#options;
    const utterance: SlotUtterance = {
      key,
      signal,
      stop,
      isBegun,
      isUrgent,
      state: "new",
      isEnding: false,
      enteredMs: this.#nowMs(),
      progress: null,
      restingSinceMs: null,
      coming: null,
      entry: null,
      minSlotMs: 1_000 * minSpeechS * (price?.perSecond ?? 0),
      openedMs: null,
    };
    // Text that has begun to arrive is worth a longer wait.
    const waitMs = isBegun || price === undefined ? queueWaitMs : Math.min(queueWaitMs, price.patienceMs);
    await this.#turnOf(utterance, { waitMs, late: () => this.#fullFor(key) });
    return {
      rest: () => {
        utterance.restingSinceMs ??= this.#nowMs();
      },
      pause: () => {
        // The client did not cause this pause, so the utterance is not idle.
        utterance.restingSinceMs = null;
        utterance.progress = null;
        if (utterance.state !== "active") return;
        this.#pause(utterance);
        this.#serve();
      },
      work: (aheadS) => this.#work(utterance, aheadS),
      release: () => this.#leave(utterance),
    };
  }

  /** Refuses requests that wait for a first slot and further ones. Begun utterances continue. */
  close(): void {
    this.#isClosed = true;
    for (const entry of [...this.#queue]) {
      if (isNew(entry) && !entry.utterance.isBegun) entry.refuse(shuttingDownError());
    }
  }

  #work(utterance: SlotUtterance, aheadS: number): Promise<void> | null {
    const nowMs = this.#nowMs();
    this.#lateness.record(utterance, aheadS, nowMs);
    if (this.#lateness.isDue(nowMs)) {
      if (this.#doesNewcomerWait()) {
        this.#serve();
        this.#refuseForLate();
      } else this.#countLate();
    }
    if (utterance.coming !== null) return utterance.coming;
    if (utterance.state === "active") {
      if (this.#queue.size === 0 || !this.#shouldYield(utterance, aheadS)) return null;
      this.#pause(utterance);
    }
    const coming = this.#turnOf(utterance).finally(() => {
      utterance.coming = null;
    });
    coming.catch(() => {});
    utterance.coming = coming;
    return coming;
  }

  /** Whether the next admissible utterance has a better claim to the slot. */
  #shouldYield({ key }: SlotUtterance, aheadS: number): boolean {
    for (const next of this.#queue.firsts()) {
      if (this.#verdict(next) !== "take") continue;
      if (aheadS >= YIELD_AHEAD_S || this.#activeBy.of(key) > this.#activeBy.of(next.key) + 1) return true;
    }
    return false;
  }

  #turnOf(utterance: SlotUtterance, limit?: { waitMs: number; late: () => unknown }): Promise<void> {
    const { key, signal } = utterance;
    return waitForAdmission<void>(
      { key, signal, ...(limit === undefined ? {} : { limit }) },
      (waiter) => {
        const entry = { ...waiter, utterance };
        utterance.entry = entry;
        // A resumed utterance already has a listener, so it goes before new ones.
        if (isNew(entry)) this.#queue.add(key, entry);
        else this.#queue.add(key, entry, isNew);
        this.#serve();
        if (utterance.state !== "new") return;
        if (utterance.isUrgent && !this.#lateness.admits(key))
          this.#lateness.recordWaiting(utterance.enteredMs);
        this.#refuseBeyondDepth(entry);
      },
      () => {
        if (utterance.entry !== null) this.#queue.remove(key, utterance.entry);
        utterance.entry = null;
        this.#serve();
      },
    );
  }

  #refuseBeyondDepth(entry: QueueEntry): void {
    const { queueDepth, keyQueueDepth, price } = this.#options;
    // A full queue drops the newest request of the key that has most in it.
    if (this.queued > queueDepth) this.#queue.lastOfLongest(isNew)?.refuse(serverFullError(SPEAKING));
    else if (this.#queue.of(entry.key).filter(isNew).length > keyQueueDepth)
      entry.refuse(keyFullError(SPEAKING));
    else if (price !== undefined && !entry.utterance.isBegun) {
      const waitMs = this.#leastWaitMs(entry);
      if (waitMs > price.patienceMs) entry.refuse(this.#fullFor(entry.key, waitMs));
    }
  }

  /**
   * Minimum time until a newcomer can have a slot: after the open utterances, and those of its key that wait first.
   */
  #leastWaitMs(entry: QueueEntry): number {
    const nowMs = this.#nowMs();
    const free = Array.from({ length: this.#options.concurrency }, () => 0);
    [...this.#open].forEach(({ openedMs, minSlotMs }, at) => {
      free[at] = Math.max(0, (openedMs ?? nowMs) + minSlotMs - nowMs);
    });
    for (const each of this.#queue.of(entry.key)) {
      free.sort((a, b) => a - b);
      if (each === entry) break;
      free[0]! += each.utterance.minSlotMs;
    }
    return free[0]!;
  }

  /** Returns 429 if the key holds every slot, else 502. */
  #fullFor(key: string, retryAfterMs?: number): ServiceError {
    const { price, concurrency } = this.#options;
    const isOwn = price !== undefined && this.#openBy.of(key) >= concurrency;
    return isOwn ? keyFullError(SPEAKING, retryAfterMs) : serverFullError(SPEAKING, retryAfterMs);
  }

  #serve(): void {
    if (this.#isServing) return;
    this.#isServing = true;
    if (this.#queue.size > 0) this.#countLate();
    while (this.#hasAdmissible() && this.#hasRoom()) {
      const next = this.#queue.next(
        (entry) => this.#verdict(entry),
        ({ key }) => this.#activeBy.of(key),
      )!;
      this.#activate(next.utterance);
      next.admit();
    }
    this.#isServing = false;
    if (this.#queue.size > 0) this.#checkTimer ??= setTimeout(() => this.#checkWaiting(), CHECK_MS);
    else {
      clearTimeout(this.#checkTimer);
      this.#checkTimer = undefined;
    }
  }

  #countLate(): void {
    this.#lateness.update(this.#open, this.#nowMs());
  }

  #activate(utterance: SlotUtterance): void {
    if (utterance.state === "new") {
      this.#open.add(utterance);
      this.#openBy.add(utterance.key, 1);
      utterance.openedMs = this.#nowMs();
      this.#lateness.add(utterance, utterance.openedMs);
    }
    utterance.state = "active";
    utterance.restingSinceMs = null;
    this.#activeBy.add(utterance.key, 1);
  }

  #hasAdmissible(): boolean {
    return [...this.#queue.firsts()].some((first) => this.#verdict(first) === "take");
  }

  #verdict({ utterance: { key, state } }: QueueEntry): Verdict {
    if (state !== "new") return "take";
    const isWithinLimits = this.#openBy.of(key) < this.#options.keyConcurrency && this.#mayOpen(key);
    return isWithinLimits && this.#lateness.admits(key) ? "take" : "pass";
  }

  /** Whether a newcomer waits for late utterances. */
  #doesNewcomerWait(): boolean {
    return [...this.#queue.firsts()].some((first) => isNew(first) && !this.#lateness.admits(first.key));
  }

  /** When the maximum is open, a key that has less than its share may still open one. */
  #mayOpen(key: string): boolean {
    const { concurrency, keepsSlots = false } = this.#options;
    if (keepsSlots) return this.#open.size < concurrency;
    const maxOpen = OPEN_PER_SLOT * concurrency;
    return this.#open.size < maxOpen || this.#openBy.of(key) < Math.floor(maxOpen / (this.#openBy.keys + 1));
  }

  /** Whether a slot is free, or can be taken from the utterance that has rested longest. */
  #hasRoom(): boolean {
    if (this.taken < this.#options.concurrency) return true;
    const longest = this.#longestResting(({ state }) => state === "active");
    if (longest === null || this.#nowMs() - longest.restingSinceMs! < REST_MS) return false;
    this.#pause(longest);
    return true;
  }

  #longestResting(isMeant: (utterance: SlotUtterance) => boolean): SlotUtterance | null {
    let longest: SlotUtterance | null = null;
    for (const each of this.#open) {
      if (each.restingSinceMs === null || !isMeant(each)) continue;
      if (longest === null || each.restingSinceMs < longest.restingSinceMs!) longest = each;
    }
    return longest;
  }

  #checkWaiting(): void {
    this.#checkTimer = undefined;
    this.#serve();
    this.#refuseForLate();
    if (!this.#isOpeningAwaited()) return;
    for (const { isEnding } of this.#open) if (isEnding) return;
    // Kept slots are never taken over by others, so a resting utterance blocks them.
    const keepsSlots = this.#options.keepsSlots === true;
    const idle = this.#longestResting(({ state }) => keepsSlots || state === "paused");
    if (idle === null || this.#nowMs() - idle.restingSinceMs! < IDLE_MS) return;
    idle.isEnding = true;
    idle.stop(idleTooLongError());
  }

  /** Refuses urgent newcomers that wait for late utterances and would begin late themselves. */
  #refuseForLate(): void {
    for (const entry of [...this.#queue]) {
      const { state, isUrgent, enteredMs } = entry.utterance;
      if (state !== "new" || !isUrgent || this.#lateness.admits(entry.key)) continue;
      if (this.#lateness.refuses(this.#nowMs() - enteredMs)) entry.refuse(serverFullError(SPEAKING));
    }
  }

  /** Whether a newcomer waits only for another utterance to end. */
  #isOpeningAwaited(): boolean {
    const { keyConcurrency } = this.#options;
    const waits = ({ key }: QueueEntry) => !this.#mayOpen(key) && this.#openBy.of(key) < keyConcurrency;
    return [...this.#queue.firsts()].some((first) => isNew(first) && waits(first));
  }

  #pause(utterance: SlotUtterance): void {
    utterance.state = "paused";
    this.#activeBy.add(utterance.key, -1);
  }

  #leave(utterance: SlotUtterance): void {
    if (!this.#open.delete(utterance)) return;
    // Otherwise {@link #serve} counts late utterances.
    if (this.#queue.size === 0) this.#countLate();
    this.#openBy.add(utterance.key, -1);
    if (utterance.state === "active") this.#activeBy.add(utterance.key, -1);
    utterance.entry?.refuse(new Error("the slot was given back"));
    this.#serve();
  }
}
